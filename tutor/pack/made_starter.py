"""The starter of a lesson that has none, made from its marked solution."""

from pathlib import Path

from tutor.manifest import solution_folders
from tutor.marked_regions import BadMarkers, starter_of
from tutor.pack.folder import Folder
from tutor.pack.problems import BadSource
from tutor.pack.yaml_nodes import decode

MAX_LENGTH = 64_000
"""Characters, as of a starter in a lesson's file."""


def made_starter(root: Path, track: str, lesson_id: str) -> str | None:
    """Return the starter made from the marked regions of a lesson's solution; None if the pack has
    no solution of it.

    Raises:
        BadSource: no starter can be made; the problem is in the solution's file.
    """
    file = f"{track}/{lesson_id}.py"
    base = next((base for base in solution_folders(root) if (base / file).is_file()), None)
    if base is None:
        return None
    folder = Folder(base)
    source = decode(folder.read(file), folder.shown(file), "a solution may not contain")
    try:
        starter = starter_of(source)
    except BadMarkers as error:
        problem = folder.problem(file, str(error), error.line, error.column, error.remedy)
        raise BadSource(problem) from None
    if len(starter) > MAX_LENGTH:
        what = f"the starter must have at most {MAX_LENGTH} characters, got {len(starter)}"
        raise BadSource(folder.problem(file, what, remedy="mark more of it"))
    return starter
