"""The lesson format as JSON Schema, for editors that complete and check while one types.

    python -m tutor.pack.schema lessons/schema

writes `lesson.json` and `pack.json`; they are kept in the repository, and a test holds them to
the classes of `tutor.lesson`. What a schema cannot say (that an expression names something, that
`needs` form no circle) the loader checks.
"""

import sys
from pathlib import Path
from typing import Any

import msgspec

from tutor.checks import kinds
from tutor.files import write_atomically
from tutor.lesson import Lesson
from tutor.manifest import Manifest

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def lesson_schema() -> dict[str, Any]:
    """The schema of `<lesson>.yaml`."""
    checks = kinds()
    references, components = msgspec.json.schema_components(
        [Lesson, *checks.values()], ref_template="#/$defs/{name}"
    )
    whole, *each = references
    components["Check"] = {"anyOf": each, "description": "One check; its kind is one of its keys."}
    return {"$schema": _DIALECT, "title": "jaxtutor lesson", **whole, "$defs": components}


def pack_schema() -> dict[str, Any]:
    """The schema of `pack.yaml`."""
    return {"$schema": _DIALECT, "title": "jaxtutor pack", **msgspec.json.schema(Manifest)}


def texts() -> dict[str, bytes]:
    """The schema files by name."""
    schemas = {"lesson.json": lesson_schema(), "pack.json": pack_schema()}
    return {
        name: msgspec.json.format(msgspec.json.encode(schema, order="deterministic")) + b"\n"
        for name, schema in schemas.items()
    }


def main() -> None:
    folder = Path(sys.argv[1])
    for name, text in texts().items():
        write_atomically(folder / name, text)


if __name__ == "__main__":
    main()
