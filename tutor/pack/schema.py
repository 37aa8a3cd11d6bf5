"""The lesson format as JSON Schema, for completion and validation in editors.

    python -m tutor.pack.schema lessons/schema

writes `lesson.json` and `pack.json`; a test compares the committed files with the classes of
`tutor.lesson` and `tutor.manifest`. The pack reader checks what a schema cannot express, such as
names in expressions and circular `needs`.
"""

import inspect
import sys
from pathlib import Path
from typing import Any

import msgspec

from tutor.checks import kinds
from tutor.inputs.datasets import DataFile
from tutor.lesson import Lesson
from tutor.manifest import Manifest
from tutor.storage.files import write_atomically

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def lesson_schema() -> dict[str, Any]:
    """Return the schema of `<lesson>.yaml`."""
    checks = kinds()
    references, components = msgspec.json.schema_components(
        [Lesson, *checks.values()], ref_template="#/$defs/{name}"
    )
    whole, *each = references
    for struct in (Lesson, DataFile):
        for name in struct.NOT_IN_YAML:
            del components[struct.__name__]["properties"][name]
    components["Check"] = {"anyOf": each, "description": "One check; its kind is one of its keys."}
    return {"$schema": _DIALECT, "title": "jaxtutor lesson", **whole, "$defs": components}


def pack_schema() -> dict[str, Any]:
    """Return the schema of `pack.yaml`."""
    return {"$schema": _DIALECT, "title": "jaxtutor pack", **msgspec.json.schema(Manifest)}


def texts() -> dict[str, bytes]:
    """Return the schema files' contents by name."""
    schemas = {"lesson.json": lesson_schema(), "pack.json": pack_schema()}
    return {
        name: msgspec.json.format(msgspec.json.encode(_clean(schema), order="deterministic"))
        + b"\n"
        for name, schema in schemas.items()
    }


def _clean(node: Any) -> Any:
    """Return a schema whose descriptions are not indented. Python 3.13 reads docstrings without
    their indentation, older ones with it."""
    if isinstance(node, list):
        return [_clean(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: inspect.cleandoc(value)
        if key == "description" and isinstance(value, str)
        else _clean(value)
        for key, value in node.items()
    }


def main() -> None:
    folder = Path(sys.argv[1])
    for name, text in texts().items():
        write_atomically(folder / name, text)


if __name__ == "__main__":
    main()
