"""Choose the numbers that `sizes:` names, case by case.

Three sets of sizes, one without and two with axes of length 1, catch more than any two do. Each
set costs a tenth to a sixth of a first run, since JAX compiles for every shape. Of 72 wrong
answers by people who knew only the tasks, 32 of them wrong for certain sizes only, three sets
catch 47 or 48, depending on the seed. The first and one of the others catch 38 to 41; the first
and one in which every size is 1, 45. The second and the third catch 46 or 47, but their failures
are harder to read. The course's own mutants and mistakes cannot decide this: the first set alone
catches nearly all.
"""

from collections.abc import Mapping

from tutor.inputs.streams import generator, word


def draw_sizes(
    sizes: Mapping[str, "int | tuple[int, ...]"], seed: tuple[int, ...]
) -> dict[str, int]:
    """Return one number for each named size.

    A size with several candidates starts at a random one and takes the next in each case, so a few
    cases already see different ones. No size is 1 in the first case if it has other candidates, for
    many mistakes make no difference there. Of the sizes that may be 1, every other one is 1 in the
    second case and the rest in the third: a mistake with one axis of length 1 can go unnoticed if
    all axes are that short.
    """
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
