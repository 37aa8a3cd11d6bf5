"""Foreign code runs here: in processes of its own that know nothing worth stealing.

`process` starts one and talks to it, `wire` and `protocol` are the language they speak,
`isolation` is what stands between the process and the machine. `worker` is the program inside;
it serves the learner's side (`learner`, with JAX) or the reference's (`reference`, with PyTorch).
"""
