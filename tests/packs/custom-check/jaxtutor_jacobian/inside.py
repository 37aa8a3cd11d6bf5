"""Evaluate inside the sandboxes: `observe` with JAX, `refer` with PyTorch.

Each framework exists only in its own sandbox, so each function imports its own. `env.evaluate` and
`env.call` run the learner's or the lesson's code and tell its exceptions from ours; `env.encode`
turns results into data.
"""


def observe(env, args, input_sets):
    import jax

    inputs = env.inputs(input_sets[0])
    function = env.evaluate(args["function"], inputs)
    at = env.evaluate(args["at"], inputs)
    running = f"jax.jacobian of {args['function']}"
    return env.encode(env.call(running, jax.jacobian(function), at), running)


def refer(env, args, input_sets):
    from torch.autograd.functional import jacobian
    from tutor.sandbox.reference import timed

    def take():
        inputs = env.inputs(input_sets[0])
        function = env.evaluate(args["function"], inputs)
        at = env.evaluate(args["at"], inputs)
        return env.call(args["function"], jacobian, function, at)

    value, seconds = timed(take)
    return env.encode(value, args["function"]), seconds
