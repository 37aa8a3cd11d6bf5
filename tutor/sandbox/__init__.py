"""Run untrusted code in processes that hold no secrets.

`process` starts a worker and talks to it in the format of `wire` and `protocol`; `isolation` keeps
the worker from the machine; `limits` holds the fixed limits. `worker` is the program inside: it
serves the learner's code (`learner`, with JAX) or the reference's (`reference`, with PyTorch).
"""
