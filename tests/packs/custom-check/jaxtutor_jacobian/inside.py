"""What is asked inside the sandboxes: `observe` beside JAX, `refer` beside PyTorch.

Each framework is there in its own sandbox only, so each is imported in its own function. Code of
the learner's or the lesson's is run by `env.evaluate` and `env.call`, which tell its exceptions
from ours; what it gives is made data by `env.encode`.
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
