"""The examples of a check that trains: a data set by name, or a call that generates one.

data: flowers
data: blobs(600, 2, classes=3)
"""

from collections.abc import Collection

from tutor.inputs.datasets import Datasets, Examples
from tutor.inputs.drawing import DrawError
from tutor.inputs.draws import Draw, draw_tree, parse
from tutor.inputs.functions import FUNCTIONS, GENERATED
from tutor.inputs.streams import word
from tutor.suggestions import nearest
from tutor.tree import Leaf, entry


def parse_call(text: str, datasets: Collection[str]) -> Draw | None:
    """Return the call that generates a data set; None if `text` is the name of one. Raises:
    DrawError: it is neither."""
    name = text.partition("(")[0].strip()
    if name not in GENERATED:
        if text in datasets:
            return None
        calls = " or ".join(f"{one}(…)" for one in GENERATED)
        near = nearest(name, [*datasets, *GENERATED])
        raise DrawError(
            f"no data set is called {name!r}; there are {', '.join(datasets)}, and {calls}{near}"
        )
    if "(" not in text:
        raise DrawError(f"{name} needs arguments: {FUNCTIONS[name].usage}")
    draw = parse(text, ())
    for size, column in draw.columns.items():
        raise DrawError(f"must be numbers, got {size!r}: a data set has no sizes", column)
    return draw


def load(text: str, datasets: Datasets, seed: tuple[int, ...]) -> Examples:
    """Return features float32 (n, …), and classes int32 or targets float32 (n,). Raises: DrawError:
    there are none."""
    draw = parse_call(text, datasets)
    if draw is None:
        return datasets[text].load()
    drawn = draw_tree(draw, {}, (*seed, word("data")))
    x, y = entry(drawn, "x"), entry(drawn, "y")
    assert isinstance(x, Leaf) and isinstance(y, Leaf)
    examples: Examples = x.values, y.values
    return examples


def noun(text: str) -> str:
    """Return what messages call the examples: `flowers`, `blobs`."""
    return text.partition("(")[0].strip()
