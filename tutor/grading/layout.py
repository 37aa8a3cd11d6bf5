"""How submissions are laid out: which folder holds the students', and which bear lessons' names.

A folder that holds all the rest may be a wrapper around the students, or the only student's own.
Where that does not show, the grader has to say.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from tutor.grading.gradescope_export import EXPORT, METADATA, SUBMISSION
from tutor.grading.lesson_names import lesson_of
from tutor.grading.student_names import looks
from tutor.grading.submission_files import Files, Unusable

SOURCES = (".py", ".ipynb")
BESIDE = ("readme", "license", "licence", "notice", "makefile")
"""What lies next to submissions, by name without ending."""

MOODLE = "_assignsubmission_"


def is_source(name: str) -> bool:
    """Return whether this may be a submission, by its name."""
    return name.casefold().endswith(SOURCES) and not is_beside(name)


def is_beside(name: str) -> bool:
    """Return whether this lies next to submissions and is none."""
    return PurePosixPath(name).stem.casefold() in BESIDE


def base_of(files: Files, names: Sequence[str], graded: Sequence[str], known: Sequence[str]) -> str:
    """Return the folder that holds everybody's, with `/` at its end; empty if that is the top.

    **Arguments:** `graded`: the lessons that are; `known`: all of the pack.

    Raises:
        Unusable: it may be a student's own.
    """
    base = ""
    while (top := _only(files, names, base)) is not None and f"{base}{METADATA}" not in names:
        below = [name.removeprefix(f"{base}{top}/") for name in names if _in(name, f"{base}{top}")]
        found = _kind(top, below, files.name, graded, known)
        if found == "unclear":
            inner = f"{base}{top}"
            hint = f"unpack it and grade {inner}" if files.zipped else f"grade {files.path / inner}"
            raise Unusable(
                f"{files.path}: is {inner} one student's folder, or a folder around several "
                f"students'? For one student add --no-wrapper; for several, {hint}"
            )
        if found == "student":
            break
        base = f"{base}{top}/"
    return base


def of_lessons(files: Files, names: Sequence[str], base: str, known: Sequence[str]) -> bool:
    """Return whether the folders in `base` are named after lessons, with students' in them, and not
    one student's own."""
    tops = _folders(files, base)
    if not tops or not all(_is_lesson(top, known) for top in tops):
        return False
    sources = [name.removeprefix(base) for name in names if _in(name, base) and is_source(name)]
    inside = [parts for name in sources if len(parts := name.split("/")) > 1]
    own = all(len(parts) == 2 and _is_lesson(_stem(parts[1]), known) for parts in inside)
    return len(inside) == len(sources) and not own


def _kind(
    top: str, below: Sequence[str], around: str, graded: Sequence[str], known: Sequence[str]
) -> str:
    """Return what a folder that holds everything is: "wrapper", "student" or "unclear".

    **Arguments:** `below`: the names of all files in it; `around`: what it lies in is called so.
    """
    if looks(top) == looks(around) or EXPORT.fullmatch(top):
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
    handed_in = [_lessons_in(inside, graded, known) for inside in folders.values()]
    several = any(sum(lesson in one for one in handed_in) > 1 for lesson in graded)
    if direct:
        own = any(_is_lesson(_stem(name), known) for name in direct)
        only = len(direct) == 1 and not any(handed_in)
        return "student" if (own or only) and not several else "unclear"
    if all(_is_lesson(name, known) and len(inside) == 1 for name, inside in folders.items()):
        return "student"
    if several:
        return "wrapper"
    if len(folders) == 1:
        ((inner, inside),) = folders.items()
        if _kind(inner, ["/".join(parts) for parts in inside], "", graded, known) == "wrapper":
            return "wrapper"
    return "unclear"


def _lessons_in(
    inside: Sequence[Sequence[str]], graded: Sequence[str], known: Sequence[str]
) -> set[str]:
    """Return the lessons that a folder hands something in for."""
    found = [lesson_of(_stem(parts[-1]), parts[:-1], known) for parts in inside]
    lessons = {match.lesson for match in found if match is not None and match.lesson in graded}
    if len(graded) == 1 and None in found:
        lessons.add(graded[0])  # whatever it is called, it can be for nothing else
    return lessons


def _only(files: Files, names: Sequence[str], base: str) -> str | None:
    """Return the folder that holds everything that was handed in, if there is one."""
    tops = _folders(files, base)
    loose = [name for name in names if is_source(name) and _in(name, base)]
    if len(tops) != 1 or any("/" not in name.removeprefix(base) for name in loose):
        return None
    return next(iter(tops))


def _folders(files: Files, base: str) -> Collection[str]:
    inside = (name.removeprefix(base) for name in files.folders if _in(name, base))
    return {name for name in inside if name and "/" not in name}


def _in(name: str, folder: str) -> bool:
    return not folder or name.startswith(f"{folder.rstrip('/')}/")


def _is_lesson(name: str, known: Sequence[str]) -> bool:
    match = lesson_of(name, (), known)
    return match is not None and match.rank == 0


def _stem(name: str) -> str:
    return PurePosixPath(name).stem
