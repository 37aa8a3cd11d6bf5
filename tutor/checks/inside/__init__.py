"""The halves of checks that run in sandboxes, one module per kind.

`observe(env, args, input_sets)` runs with the learner's code and JAX. The optional
`refer(env, args, input_sets)` runs with the lesson's PyTorch, and also returns the seconds of a
warm run. `input_sets` is a list of dicts of inputs by name. Both return a tree of data, and neither
knows whether it is right.

A module with `refer` imports JAX and PyTorch where it uses them, since each of the two kinds of
sandboxes has only one of them.

User code runs only in the calls that `env.evaluate`, `env.call` and `env.encode` return. `observe`
yields them, so that none of its frames is on the stack meanwhile; `refer` performs them itself.
"""
