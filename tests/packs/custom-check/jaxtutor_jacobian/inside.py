"""Evaluate inside the sandboxes: `observe` with JAX, `refer` with PyTorch.

Each framework exists only in its own sandbox, so each function imports its own. `env.evaluate`,
`env.call` and `env.encode` return calls that run the learner's or the lesson's code. `observe`
yields them, so that nothing on the stack tells the learner's code what is checked; `refer`
performs them. Exceptions inside these calls are reported as the code's, all others as ours.
"""


def observe(env, args, input_sets):
    import jax

    inputs = env.inputs(input_sets[0])
    function = yield env.evaluate(args["function"], inputs)
    at = yield env.evaluate(args["at"], inputs)
    running = f"jax.jacobian of {args['function']}"
    value = yield env.call(running, jax.jacobian(function), at)
    return (yield env.encode(value, running))


def refer(env, args, input_sets):
    from torch.autograd.functional import jacobian
    from tutor.sandbox.calls import perform
    from tutor.sandbox.reference import timed

    def take():
        inputs = env.inputs(input_sets[0])
        function = perform(env.evaluate(args["function"], inputs))
        at = perform(env.evaluate(args["at"], inputs))
        return perform(env.call(args["function"], jacobian, function, at))

    value, seconds = timed(take)
    return perform(env.encode(value, args["function"])), seconds
