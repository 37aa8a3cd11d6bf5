"""Causes read from code that trains: the order of its lines, and what a loop makes anew."""

import re
from collections.abc import Iterator

from tutor.explain.bare_code import bare
from tutor.explain.causes.comparison import Comparison, Fields, real_numbers
from tutor.tree import leaves

MAX_LINES = 1000
"""Lines of code that are read: each is compared with those around it."""

_ASSIGNED = re.compile(r"(?<!\w)(\w{1,40}) ?= ?(?!=)")
_DEF = re.compile(r"^( *)def +(\w+)\((.*?)\)", re.DOTALL)
_LOOP = re.compile(r"^( *)(?:for|while)\b")
_STEP = re.compile(
    r"\bapply_updates\(|\bnnx\.update\(|\boptimizer\.update\(|\.apply_gradients\("
    r"|^\s*\w{0,20}(?:params|weights|model)\w{0,20} = (?:\w+\.)*"
    r"(?:update|tree\.map|tree_map|step)\("
)
_AT_MOST = re.compile(
    r"(?<![\w.\]])([^\W\d]\w{0,39}(?:\[\w{1,20}\])?) <= (\w{1,40})\b(?! ?[-+*/(.\[])"
)
_LIMITS = {"length", "lengths", "limit", "steps", "count", "n_steps", "num_steps", "max_steps"}
_LOSS = re.compile(r"(?<![\w.])(\w*(?:loss|mse|cost|objective)\w*)\(")


def state_made_anew(comparison: Comparison) -> Fields | None:
    """Recognise code that makes an optimizer's state inside of the loop or the step that should
    receive it."""
    if not comparison.pairs:
        return None
    lines = bare(comparison.source).splitlines()[:MAX_LINES]
    for number, line in enumerate(lines):
        before, made, arguments = line.partition(".init(")
        if not made or re.match(r"[^(),]*(?:key|rng|rngs|Key)\b", arguments):
            continue
        inside = _inside(lines, number)
        kept = next(iter(reversed(_ASSIGNED.findall(before))), "")
        if inside is None or not (inside[0] == "loop" or _takes(inside[1], kept, line)):
            continue
        body = "\n".join(_body(lines, inside[2]))
        if re.search(r"\.update\(|\bscan\(|\bstep\w*\(|_step\(", body[len(lines[inside[2]]) :]):
            return {"code": line.strip(), "function": inside[1].split("(")[0]}
    return None


def _takes(signature: str, kept: str, line: str) -> bool:
    """Return whether a function is given the state that it makes anew, or is a step of a loop."""
    name, _, arguments = signature.partition("(")
    given = set(re.findall(r"\w+", arguments))
    if kept and kept in given:
        return True
    if re.search(r"\breplace\((\w+)", line) and kept:
        return bool(given & set(re.findall(r"\breplace\((\w+)", line)))
    return bool(name in ("step", "body", "one_step", "turn", "update") and "nested" in signature)


def _inside(lines: list[str], number: int) -> tuple[str, str, int] | None:
    """Return the innermost loop or function around a line: its kind, its name and arguments, and
    the number of its first line."""
    depth = _depth(lines[number])
    for at in range(number - 1, -1, -1):
        line = lines[at]
        if not line.strip() or _depth(line) >= depth:
            continue
        depth = _depth(line)
        if _LOOP.match(line):
            return ("loop", _function(lines, at), at)
        if found := _DEF.match("\n".join(lines[at : at + 8])):
            nested = ", nested" if found[1] else ""
            return ("def", f"{found[2]}({found[3]}{nested}", at)
        if depth == 0:
            return None
    return None


def _function(lines: list[str], number: int) -> str:
    for at in range(number - 1, -1, -1):
        if (found := _DEF.match(lines[at])) and _depth(lines[at]) < _depth(lines[number]):
            return found[2]
    return ""


def _body(lines: list[str], first: int) -> Iterator[str]:
    yield lines[first]
    for line in lines[first + 1 :]:
        if line.strip() and _depth(line) <= _depth(lines[first]) and line.lstrip()[:1] != ")":
            return
        yield line


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def loss_after_the_step(comparison: Comparison) -> Fields | None:
    """Recognise code that computes the loss after it has changed the parameters, where only losses
    are wrong, and smaller than expected."""
    wrong = {pair.path for pair in comparison.pairs} | set(comparison.others)
    rest = [leaf for path, leaf in leaves(comparison.expected) if path not in wrong]
    if not comparison.pairs or comparison.others or comparison.other is not None:
        return None
    for pair in comparison.pairs:
        if pair.expected.ndim > 1 or not (pair.actual.mean() < pair.expected.mean()):
            return None
    arrays = [numbers for leaf in rest if (numbers := real_numbers(leaf)) is not None]
    series = all(pair.expected.size > 2 for pair in comparison.pairs)
    if not series and not any(array.size > 1 for array in arrays):
        return None  # nothing shows that the step itself is right
    lines = bare(comparison.source).splitlines()[:MAX_LINES]
    for number, line in enumerate(lines):
        if _STEP.search(line) is None:
            continue
        depth = _depth(line)
        for later in lines[number + 1 :]:
            if later.strip() and _depth(later) < depth:
                break
            if _depth(later) == depth and (found := _LOSS.search(later)) and "grad" not in later:
                return {"function": found[1]}
    return None


def one_step_too_many(comparison: Comparison) -> Fields | None:
    """Recognise code that goes on while a counter is at most a number of steps among the inputs,
    which is one step more than that number."""
    whole = {
        name
        for name, array in comparison.arrays()
        if array.size == 1 and float(array.reshape(())).is_integer()
    }
    if not comparison.pairs or "<=" in bare(comparison.torch):
        return None
    for counter, limit in _AT_MOST.findall(bare(comparison.source)):
        if limit in _LIMITS or limit in whole:
            return {"counter": counter, "limit": limit}
    return None
