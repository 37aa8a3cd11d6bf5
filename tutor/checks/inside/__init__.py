"""The halves of the checks that run in the sandboxes, one module per kind.

Each has `observe(env, args, rounds)`, run beside the learner's code with JAX, and may have
`refer(env, args, rounds)`, run beside the lesson's PyTorch, which also returns the seconds that
a warm run took. `rounds` is a list of input dicts. What they return is a tree of data; whether it
is right is not known here.

Foreign code is only ever run through `env.evaluate` and `env.call`, so that its exceptions are
told from ours.
"""
