"""The halves of checks that run in sandboxes, one module per kind.

`observe(env, args, input_sets)` runs with the learner's code and JAX. The optional
`refer(env, args, input_sets)` runs with the lesson's PyTorch, and also returns the seconds of a
warm run. `input_sets` is a list of dicts of inputs by name. Both return a tree of data, and neither
knows whether it is right.

A module with `refer` imports JAX and PyTorch where it uses them, since each of the two kinds of
sandboxes has only one of them.

User code runs only through `env.evaluate` and `env.call`, which separate its exceptions from ours.
"""
