"""Causes read from the learner's code: names that it defines and does not use."""

import re

from tutor.explain.bare_code import bare
from tutor.explain.causes.comparison import Comparison, Fields

_BLOCK = re.compile(r"^(?=(?:async +)?def |class |@)", re.MULTILINE)
_ARGUMENTS = re.compile(r"^def +(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.MULTILINE)
_ASSIGNED = re.compile(r"^ +((?:\w+, *)*\w+|\((?:\w+, *)*\w+\)(?:, *\w+)*) = ", re.MULTILINE)
_NAME = re.compile(r"[^\W\d]\w*")


def argument_not_used(comparison: Comparison) -> Fields | None:
    """Recognise a function with an argument that it does not use."""
    for block in _blocks(comparison):
        for function, arguments in _ARGUMENTS.findall(block):
            for argument in arguments.split(","):
                found = _NAME.match(argument.strip())
                if found and _unused(found[0], block) and "=" not in argument:
                    return {"argument": found[0], "function": function}
    return None


def name_not_used(comparison: Comparison) -> Fields | None:
    """Recognise a function that computes something under a name and does not use it."""
    for block in _blocks(comparison):
        for names in _ASSIGNED.findall(block):
            # Of several results, some may be of no use here.
            known = [name for name in _NAME.findall(names) if not name.startswith("_")]
            if known and all(_unused(name, block) for name in known):
                return {"name": known[0]}
    return None


def _blocks(comparison: Comparison) -> list[str]:
    if not comparison.pairs and comparison.other is None:
        return []
    return _BLOCK.split(bare(comparison.source))


def _unused(name: str, block: str) -> bool:
    if name.startswith("_") or name in ("self", "cls", "shape", "dtype", "unused", "ignored"):
        return False
    return len(re.findall(rf"\b{name}\b", block)) == 1
