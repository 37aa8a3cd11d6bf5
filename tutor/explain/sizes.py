"""How the two shapes in a message differ, which often tells its causes apart."""

import re
from collections.abc import Callable

_SHAPE = re.compile(r"[(\[](\d{1,9}(?:, ?\d{1,9})*,?)[)\]]")

Shape = tuple[int, ...]


def _differ_only(at: int) -> Callable[[Shape, Shape], bool]:
    def differ(a: Shape, b: Shape) -> bool:
        return len(a) == len(b) > 1 and [i for i in range(len(a)) if a[i] != b[i]] == [at % len(a)]

    return differ


def _lacks_one(a: Shape, b: Shape) -> bool:
    short, long = sorted((a, b), key=len)
    return len(long) == len(short) + 1 and any(
        long[:at] + long[at + 1 :] == short for at in range(len(long))
    )


def _gaps(a: Shape, b: Shape) -> list[int]:
    return [abs(m - n) for m, n in zip(a, b, strict=True)]


RELATIONS: dict[str, Callable[[Shape, Shape], bool]] = {
    "first-axis": _differ_only(0),
    "last-axis": _differ_only(-1),
    "one-longer": lambda a, b: len(a) == len(b) and sum(_gaps(a, b)) == 1,
    "permuted": lambda a, b: a != b and sorted(a) == sorted(b),
    "axis-missing": _lacks_one,
    "vectors": lambda a, b: len(a) == len(b) == 1,
}
"""Relations by name: they differ in the first axis only, or in the last; one is longer by 1 along
one axis; they are the same numbers in another order; one has an axis more, and else they are equal;
both have one axis."""


def relations_in(message: str) -> frozenset[str]:
    """Return the names of the relations that hold between the first two shapes in a message."""
    shapes: list[Shape] = []
    for found in _SHAPE.finditer(message):
        shapes.append(tuple(int(size) for size in found[1].split(",") if size.strip()))
        if len(shapes) == 2:
            one, other = shapes
            return frozenset(name for name, holds in RELATIONS.items() if holds(one, other))
    return frozenset()
