"""The halves of the checks that run in the sandboxes, one module per kind.

Each has `observe(env, args, input_sets)`, run beside the learner's code with JAX, and may have
`refer(env, args, input_sets)`, run beside the lesson's PyTorch, which also returns the seconds that
a warm run took. `input_sets` is a list of dicts of inputs by name. Both return a tree of data;
neither knows whether it is right.

Foreign code is only ever run through `env.evaluate` and `env.call`, so that its exceptions are
told from ours.
"""
