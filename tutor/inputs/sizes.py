"""Sizes: the numbers that `sizes:` names, chosen case by case."""

from collections.abc import Mapping

from tutor.inputs.streams import generator, word


def draw_sizes(
    sizes: Mapping[str, "int | tuple[int, ...]"], seed: tuple[int, ...]
) -> dict[str, int]:
    """One number for each named size. Sizes with several candidates are drawn; case by case
    they also walk through their candidates, so that a few cases already see different ones.

    No size is 1 in the first case, where little would be told apart, if there are other candidates.
    Every other of those that may be 1 is so in the second case, and the rest in the third: what
    goes wrong with one axis of length 1 may go unnoticed if all are that short."""
    *base, case = seed
    chosen = {}
    turn = int(generator((*base, word("1"))).integers(2))
    for name, candidates in sizes.items():
        if isinstance(candidates, int):
            chosen[name] = candidates
            continue
        if 1 in candidates:
            start = candidates.index(1) - (1 + turn % 2 if len(candidates) > 2 else 1)
            turn += 1
        else:
            start = int(generator((*base, word(name))).integers(len(candidates)))
        chosen[name] = candidates[(start + case) % len(candidates)]
    return chosen
