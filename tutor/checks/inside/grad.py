"""The gradient of a function, by `jax.grad` and by PyTorch's autograd."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.calls import Steps
    from tutor.sandbox.learner import LearnerEnvironment
    from tutor.sandbox.reference import ReferenceEnvironment


def observe(env: "LearnerEnvironment", args: dict[str, Any], input_sets: Any) -> "Steps[Tree]":
    import jax

    inputs = env.inputs(input_sets[0])
    function = yield env.evaluate(args["function"], inputs)
    at = yield from env.evaluate_each(args["at"], inputs)
    argnums = args["argnums"]
    argnums = tuple(argnums) if isinstance(argnums, list) else argnums
    running = f"jax.grad of {' '.join(args['function'].split())}"
    differentiate = partial(jax.grad, argnums=argnums, has_aux=args["aux"])
    differentiated = yield env.call(running, differentiate, function)
    gradient = yield env.call(running, differentiated, *at)
    tree: Tree = yield env.encode(gradient[0] if args["aux"] else gradient, running)
    return tree


def refer(env: "ReferenceEnvironment", args: dict[str, Any], input_sets: Any) -> tuple[Tree, float]:
    import torch

    from tutor.sandbox.calls import perform
    from tutor.sandbox.reference import timed

    argnums = args["argnums"]
    indices = argnums if isinstance(argnums, list) else [argnums]

    def gradient() -> Any:
        inputs = env.inputs(input_sets[0])
        function = perform(env.evaluate(args["function"], inputs))
        at = [perform(env.evaluate(argument, inputs)) for argument in args["at"]]
        parameters: list[torch.Tensor] = []

        def track(tensor: torch.Tensor) -> torch.Tensor:
            parameters.append(tensor.detach().clone().requires_grad_())
            return parameters[-1]

        for number in indices:
            # `jax.grad` differentiates with respect to Python's floats, too.
            tensors = _mapped(float, torch.tensor, at[number])
            at[number] = _mapped(torch.Tensor, track, tensors)
        value = perform(env.call(f"{args['function']} of {args['at']}", function, *at))
        value = value[0] if args["aux"] else value
        # Through `call`, so that a missing gradient is the reference's error.
        gradients = iter(
            perform(
                env.call(
                    f"the gradient of {' '.join(args['function'].split())}",
                    lambda: torch.autograd.grad(
                        value, parameters, allow_unused=True, materialize_grads=True
                    ),
                )
            )
        )
        trees = [_mapped(torch.Tensor, lambda _: next(gradients), at[number]) for number in indices]
        return tuple(trees) if isinstance(argnums, list) else trees[0]

    value, seconds = timed(gradient)
    return perform(env.encode(value, args["function"])), seconds


def _mapped(kind: type, function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply `function` to every value of a type in a tree of dicts, lists and tuples."""
    if isinstance(tree, kind):
        return function(tree)
    if isinstance(tree, dict):
        return {key: _mapped(kind, function, child) for key, child in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(_mapped(kind, function, child) for child in tree)
    return tree
