"""Write the fields of packs, lessons and checks into the documentation.

    .venv/bin/python docs/fields.py

replaces each table below a line such as `<!-- fields: Lesson -->`. The classes are the only
description of the format; a field without a description is an error.
"""

import re
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from tutor.check import Check
from tutor.checks import BUILT_IN
from tutor.inputs.datasets import DataFile
from tutor.lesson import Equivalent, FailureHint, Lesson, Limits, Mistake
from tutor.manifest import LatePenalty, Manifest, MapEntry, Track
from tutor.pack.struct_reader import rule

REPOSITORY = Path(__file__).parents[1]
PAGES = [REPOSITORY / "docs" / "format.md"]
CLASSES: dict[str, type[Struct]] = {
    one.__name__: one
    for one in (
        Manifest,
        Track,
        MapEntry,
        LatePenalty,
        Lesson,
        DataFile,
        FailureHint,
        Mistake,
        Equivalent,
        Limits,
        Check,
    )
}
TABLE = re.compile(r"(<!-- fields: (\w+) -->\n)(?:\|.*\n)*")
CASES = re.compile(r"(<!-- cases -->\n)(?:By default.*\n)?")
HEADER = "| field | value | default | |\n|---|---|---|---|\n"

_HOLDS = {
    "module": "Python source",
    "markdown": "Markdown, at most 20000 characters",
    "draws": "a mapping of [draws](#inputs)",
    "checks": "a list of [checks](#checks)",
    "releases": "a version specifier",
}
_STRUCTS = {
    "DataFile": "a mapping of [data sets](#data-sets)",
    "Limits": "a mapping of [limits](#limits)",
    "Grading": "a mapping with `late`, see [grading](#grading)",
    "Track": "a list of tracks",
    "MapEntry": "a list of at most 24 [rows](#maps-and-reviews)",
}


def table(cls: type[Struct]) -> str:
    """Return the table of a class's fields, required ones first in the order of the class."""
    left_out = getattr(cls, "NOT_IN_YAML", ())
    hints = get_type_hints(cls, include_extras=True)
    rows = []
    for field in msgspec.structs.fields(cls):
        if field.name in left_out:
            continue
        hint = hints[field.name]
        about = _described(hint)
        if not about:
            raise ValueError(f"{cls.__name__}.{field.name} has no description")
        cells = (f"`{field.encode_name}`", _value(hint), _default(field), about.rstrip("."))
        rows.append(f"| {' | '.join(cells)} |\n")
    return HEADER + "".join(rows)


def cases() -> str:
    """Return how many cases each kind has by default."""
    by_count: dict[int, list[str]] = {}
    for kind in BUILT_IN:
        by_count.setdefault(kind.default_cases, []).append(f"`{kind.kind}`")
    *few, most = sorted(by_count)
    listed = "; ".join(f"{count} for {', '.join(by_count[count])}" for count in few)
    return f"By default, `cases` is {listed}; {most} for the others.\n"


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    if field.default is msgspec.NODEFAULT or isinstance(field.default, Struct):
        return ""
    if field.default in (None, "", ()):
        return ""
    return f"`{msgspec.json.encode(field.default).decode()}`"


def _value(hint: Any) -> str:
    """Return what a field must hold, in a few words."""
    if (holds := _extra(hint)) in _HOLDS:
        return _HOLDS[holds]
    for struct in _structs(hint):
        return _STRUCTS.get(struct.__name__, f"a list, see [below](#{_anchor(struct)})")
    return re.sub(
        r"a string of [01] to (\d+) characters", r"text, at most \1 characters", rule(hint)
    )


def _anchor(struct: type[Struct]) -> str:
    anchors = {"Mistake": "mistakes", "Equivalent": "mistakes", "FailureHint": "hints-for-failures"}
    return anchors.get(struct.__name__, "lessons")


def _structs(hint: Any) -> list[type[Struct]]:
    if isinstance(hint, type) and issubclass(hint, Struct):
        return [hint]
    return [one for part in get_args(hint) for one in _structs(part)]


def _extra(hint: Any) -> str:
    if get_origin(hint) is Annotated:
        inner, *metas = get_args(hint)
        for meta in metas:
            if isinstance(meta, Meta) and meta.extra:
                return str(meta.extra.get("holds", ""))
        return _extra(inner)
    if get_origin(hint) is Union or hasattr(hint, "__args__"):
        parts = [part for part in get_args(hint) if part is not NoneType]
        return _extra(parts[0]) if len(parts) == 1 else ""
    return ""


def _described(hint: Any) -> str:
    """Return the outermost description of an annotation."""
    if get_origin(hint) is Annotated:
        inner, *metas = get_args(hint)
        for meta in reversed(metas):
            if isinstance(meta, Meta) and meta.description:
                return meta.description
        return _described(inner)
    return ""


def with_fields(text: str) -> str:
    """Return the text of a page with the fields as they are now."""
    text = TABLE.sub(lambda found: found[1] + table(CLASSES[found[2]]), text)
    return CASES.sub(lambda found: found[1] + cases(), text)


if __name__ == "__main__":
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        if (after := with_fields(before)) != before:
            page.write_text(after, encoding="utf-8")
            print(page.relative_to(REPOSITORY))
