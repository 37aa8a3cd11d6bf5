"""Inputs that begin with another one, such as `mask: sequence_mask(lengths, T)`: in which order to
draw them, and what they may begin with."""

import graphlib
from collections.abc import Iterable, Iterator, Mapping

from tutor.inputs.drawing import DrawError
from tutor.inputs.draws import Draw, Draws, drawn


def inputs_of(draws: Draws) -> set[str]:
    """Return the names of the inputs that a tree of draws begins with."""
    return {draw.input for draw in drawn(draws) if draw.input}


def needed(inputs: Mapping[str, Draws], names: Iterable[str]) -> list[str]:
    """Return these inputs and all that they need, each after those that it needs. Names of no input
    are left out. Raises: DrawError: they need each other in a circle."""
    graph: dict[str, set[str]] = {}
    pending = [name for name in names if name in inputs]
    while pending:
        if (name := pending.pop()) not in graph:
            graph[name] = inputs_of(inputs[name]) & inputs.keys()
            pending += graph[name]
    try:
        order = [*graphlib.TopologicalSorter(graph).static_order()]
    except graphlib.CycleError as error:
        raise DrawError(_circle(error)) from None
    return order


def circle_in(inputs: Mapping[str, Draws]) -> tuple[str, str]:
    """Return an input that needs itself, and the circle in words; both empty if there is none."""
    graph = {name: inputs_of(draws) & inputs.keys() for name, draws in inputs.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1][-1], _circle(error)
    return "", ""


def _circle(error: graphlib.CycleError) -> str:
    return f"circular inputs: {' needs '.join(reversed(error.args[1]))}"


def fault_of(draw: Draw, inputs: Mapping[str, Draws]) -> str:
    """Return what is wrong with the input that a draw begins with; empty if nothing is, or if it
    begins with none. There must be no circle."""
    function = draw.calls
    if function.takes is None:
        return ""
    if draw.input not in inputs:
        return f"no input is called {draw.input!r}"
    given = inputs[draw.input]
    return function.takes.fault_in(draw.input, _dtypes(given, inputs), _is_one_array(given, inputs))


def _dtypes(draws: Draws, inputs: Mapping[str, Draws]) -> Iterator[str]:
    """Yield the dtypes of arrays that will be drawn; for keys and Python numbers, their types."""
    for draw in drawn(draws):
        function = draw.calls
        chosen = dict(draw.options).get("dtype")
        if isinstance(chosen, str):
            yield chosen
        elif function.gives is not None:
            yield from function.gives
        else:
            yield from _dtypes(inputs.get(draw.input, ()), inputs)


def _is_one_array(draws: Draws, inputs: Mapping[str, Draws]) -> bool:
    if not isinstance(draws, Draw):
        return False
    function = draws.calls
    if function.takes is not None and not function.takes.single:
        return _is_one_array(inputs.get(draws.input, ()), inputs)
    return not function.pytree


def is_structured(draws: Draws) -> bool:
    """Return whether other numbers of the same bounds would not do in place of what is drawn."""
    return any(draw.calls.structured or draw.input for draw in drawn(draws))
