"""The layout of submissions: which directory contains the students', and whether directories are
named after lessons.

A directory that contains everything else may be a wrapper around the students' directories, or the
only student's own. If that is not clear, the grader has to say.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from tutor.grading.gradescope_export import EXPORT, METADATA, SUBMISSION
from tutor.grading.lesson_names import match_lesson
from tutor.grading.student_names import visual_key
from tutor.grading.submission_files import SubmissionFiles, Unusable

EXTENSIONS = (".py", ".ipynb")
BOILERPLATE = ("readme", "license", "licence", "notice", "makefile")
"""Names, without extension, of files that are never submissions."""

MOODLE = "_assignsubmission_"


def is_source(name: str) -> bool:
    """Return whether a file of this name may be a submission."""
    return name.casefold().endswith(EXTENSIONS) and not is_boilerplate(name)


def is_boilerplate(name: str) -> bool:
    """Return whether a file of this name is never a submission."""
    return PurePosixPath(name).stem.casefold() in BOILERPLATE


def find_base(
    files: SubmissionFiles, names: Sequence[str], graded: Sequence[str], known: Sequence[str]
) -> str:
    """Return the directory that contains all students', ending in `/`; empty for the root.

    **Arguments:** `graded`: the lessons to grade; `known`: all lessons of the pack.

    Raises:
        Unusable: it may be a student's own.
    """
    base = ""
    while f"{base}{METADATA}" not in names and (top := _only_folder(files, names, base)):
        prefix = f"{base}{top}"
        below = [name.removeprefix(f"{prefix}/") for name in names if _is_below(name, prefix)]
        kind = _classify(top, below, files.name, graded, known)
        if kind == "unclear":
            hint = (
                f"unpack it and grade {prefix}" if files.zipped else f"grade {files.path / prefix}"
            )
            raise Unusable(
                f"{files.path}: is {prefix} one student's directory, or a directory that contains "
                f"several students'? For one student add --no-wrapper; for several, {hint}"
            )
        if kind == "student":
            break
        base = f"{prefix}/"
    return base


def is_grouped_by_lesson(
    files: SubmissionFiles, names: Sequence[str], base: str, known: Sequence[str]
) -> bool:
    """Return whether the directories in `base` are named after lessons and contain students', and
    are not one student's own."""
    tops = _folders(files, base)
    if not tops or not all(_is_lesson(top, known) for top in tops):
        return False
    sources = [
        name.removeprefix(base) for name in names if _is_below(name, base) and is_source(name)
    ]
    inside = [parts for name in sources if len(parts := name.split("/")) > 1]
    own = all(len(parts) == 2 and _is_lesson(_stem(parts[1]), known) for parts in inside)
    return len(inside) == len(sources) and not own


def _classify(
    top: str, below: Sequence[str], parent: str, graded: Sequence[str], known: Sequence[str]
) -> str:
    """Return what a directory that contains everything is: "wrapper", "student" or "unclear".

    **Arguments:** `below`: the names of all files in it; `parent`: the name of its parent.
    """
    if visual_key(top) == visual_key(parent) or EXPORT.fullmatch(top):
        return "wrapper"
    if SUBMISSION.fullmatch(top) or MOODLE in top or _is_lesson(top, known):
        return "student"
    sources = [name.split("/") for name in below if is_source(name)]
    direct = [parts[0] for parts in sources if len(parts) == 1]
    if METADATA in below and any(SUBMISSION.match(name) for name in below):
        return "unclear"
    folders: dict[str, list[list[str]]] = defaultdict(list)
    for parts in sources:
        if len(parts) > 1:
            folders[parts[0]].append(parts[1:])
    lessons = [_lessons_in(inside, graded, known) for inside in folders.values()]
    several = any(sum(lesson in one for one in lessons) > 1 for lesson in graded)
    if direct:
        own = any(_is_lesson(_stem(name), known) for name in direct)
        only = len(direct) == 1 and not any(lessons)
        return "student" if (own or only) and not several else "unclear"
    if all(_is_lesson(name, known) and len(inside) == 1 for name, inside in folders.items()):
        return "student"
    if several:
        return "wrapper"
    if len(folders) == 1:
        ((inner, inside),) = folders.items()
        if _classify(inner, ["/".join(parts) for parts in inside], "", graded, known) == "wrapper":
            return "wrapper"
    return "unclear"


def _lessons_in(
    inside: Sequence[Sequence[str]], graded: Sequence[str], known: Sequence[str]
) -> set[str]:
    """Return the lessons that the files of a directory are for."""
    found = [match_lesson(_stem(parts[-1]), parts[:-1], known) for parts in inside]
    lessons = {match.lesson for match in found if match is not None and match.lesson in graded}
    if len(graded) == 1 and None in found:
        lessons.add(graded[0])  # whatever its name, it can be for no other lesson
    return lessons


def _only_folder(files: SubmissionFiles, names: Sequence[str], base: str) -> str | None:
    """Return the directory that contains all submissions, if there is one."""
    tops = _folders(files, base)
    sources = [name for name in names if is_source(name) and _is_below(name, base)]
    if len(tops) != 1 or any("/" not in name.removeprefix(base) for name in sources):
        return None
    return next(iter(tops))


def _folders(files: SubmissionFiles, base: str) -> Collection[str]:
    inside = (name.removeprefix(base) for name in files.folders if _is_below(name, base))
    return {name for name in inside if name and "/" not in name}


def _is_below(name: str, folder: str) -> bool:
    return not folder or name.startswith(f"{folder.rstrip('/')}/")


def _is_lesson(name: str, known: Sequence[str]) -> bool:
    match = match_lesson(name, (), known)
    return match is not None and match.rank == 0


def _stem(name: str) -> str:
    return PurePosixPath(name).stem
