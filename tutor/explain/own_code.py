"""The files that a pasted traceback names, where they are on this machine and still say what it
quotes: they show what made a name, which the traceback's lines do not.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from tutor.explain.reach import reachable
from tutor.explain.statement import statement_at
from tutor.explain.symptom import Symptom
from tutor.foreign.source_lines import source_lines

MAX_FILE = 256_000
"""Bytes of a file to read."""

MAX_FILES = 4
"""Files to read, the one that raised the error first."""

_IMPORTS_JAX = re.compile(
    r"^[ \t]{0,80}(?:import|from)[ \t]{1,80}(?:jax|flax|optax)\b", re.MULTILINE
)


def with_own_code(symptom: Symptom) -> Symptom:
    """Return the symptom with the code that its lines can reach as its source, and with the whole
    statement as its line, as far as the files are here."""
    lines = symptom.source.split("\n")
    files = dict(_files(symptom, lines))
    if not files:
        return symptom
    source = "\n".join(reachable(code, [*lines, symptom.function]) for code in files.values())
    file, number = symptom.places[-1]
    line = statement_at(source_lines(files[file]), number) if file in files else symptom.line
    names_jax = symptom.names_jax or _IMPORTS_JAX.search(source) is not None
    return structs.replace(symptom, source=source, around="", line=line, names_jax=names_jax)


def _files(symptom: Symptom, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that have the quoted lines, with their contents."""
    quoted: dict[str, list[tuple[int, str]]] = {}
    for (file, number), line in reversed([*zip(symptom.places, lines, strict=False)]):
        quoted.setdefault(file, []).append((number, line.strip()))
    for file in [*quoted][:MAX_FILES]:
        code = _read(file)
        numbered = dict(enumerate((line.strip() for line in source_lines(code)), start=1))
        if all(numbered.get(number) == line for number, line in quoted[file]):
            yield file, code


def _read(file: str) -> str:
    """Return a Python file's content; empty if it is none, or cannot be read."""
    try:
        path = Path(file).expanduser()
        if path.suffix != ".py" or not path.is_file():
            return ""
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE + 1)
        return content.decode("utf-8", "replace") if len(content) <= MAX_FILE else ""
    except (OSError, ValueError, RuntimeError):  # RuntimeError: the home of an unknown user
        return ""
