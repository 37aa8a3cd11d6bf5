"""Whose file is whose, in the layouts in which submissions arrive.

==================================================  ========================================
``anna.py``, ``anna_vmap-basics.py``                files, named after who handed them in
``anna/vmap-basics.py``                             a folder for each
``vmap-basics/anna.py``, ``vmap-basics/anna/…``     a folder for each lesson
``submission_123/…``, ``submission_metadata.yml``   what Gradescope exports
``Anna Lee_123_assignsubmission_file_/…``           what Moodle exports; older have no folder
==================================================  ========================================

Whose a file is, only names at the top say, and what Gradescope has put there: nothing that students
may have written into their own folders.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from tutor.grading.gradescope_export import METADATA, SUBMISSION, Person, people
from tutor.grading.layout import MOODLE, base_of, is_beside, is_source, of_lessons
from tutor.grading.lesson_names import lesson_of, person_in
from tutor.grading.student_names import looks, normalize_name
from tutor.grading.submission_files import Files

_MOODLE = re.compile(
    rf"^(?P<name>.+?)_(?P<number>\d+){MOODLE}(?P<kind>file|onlinetext)_?(?P<rest>.*)$"
)


class Owned(Struct, frozen=True):
    """A file. `owner` is empty where only its name can tell; `who` tells owners apart, whatever
    their names look like, and `number` those of one name; `inside` is where the file lies below its
    owner's folder, its own name last."""

    name: str
    owner: str
    inside: tuple[str, ...]
    submitted_at: str = ""
    who: str = ""
    number: str = ""

    @property
    def stem(self) -> str:
        return PurePosixPath(self.inside[-1]).stem

    @property
    def is_source(self) -> bool:
        return is_source(self.inside[-1])


def owned(
    files: Files,
    names: Sequence[str],
    graded: Sequence[str],
    known: Sequence[str],
    wrapper: bool = True,
) -> list[Owned]:
    """Return all files with their owners, and those besides that are nobody's and need not be. What
    can be told of the layout alone is added to the files' problems.

    **Arguments:** `graded`: the lessons that are; `known`: all of the pack; `wrapper`: whether
    folders at the top may be others than students'.

    Raises:
        tutor.grading.submission_files.Unusable: it does not show whether one does.
    """
    base = base_of(files, names, graded, known) if wrapper else ""
    described = _described(files, names, base)
    by_lesson = wrapper and of_lessons(files, names, base, known)
    found: list[Owned] = []
    for name in names:
        if is_beside(name):
            continue
        if PurePosixPath(name).name == METADATA:
            if described is None or name != f"{base}{METADATA}":
                files.problems.append(f"{name}: {_NOT_BELIEVED}")
        elif not name.startswith(base):
            found.append(Owned(name, "", (PurePosixPath(name).name,)))
        else:
            parts = tuple(name.removeprefix(base).split("/"))
            found += _owned(files, name, parts, described or {}, known if by_lesson else ())
    _tell_empty(files, names, base)
    return _told_apart(found)


_NOT_BELIEVED = (
    "not believed: it says whose submissions are whose only next to the submission_… folders that "
    "Gradescope exports"
)


def _described(files: Files, names: Sequence[str], base: str) -> dict[str, Person] | None:
    """Return what Gradescope says of who handed in what; None where nothing of it is here."""
    exported = (name.removeprefix(base) for name in files.folders if name.startswith(base))
    folders = {name for name in exported if SUBMISSION.fullmatch(name)}
    if f"{base}{METADATA}" not in names or not folders:
        return None
    return people(files, f"{base}{METADATA}", folders)


def _owned(
    files: Files,
    name: str,
    parts: tuple[str, ...],
    described: dict[str, Person],
    lessons: Sequence[str],
) -> Iterator[Owned]:
    """Yield a file with its owner, if it need not be left out.

    **Arguments:** `lessons`: those that the folders at the top are named after, if they are.
    """
    person = described.get(parts[0]) if len(parts) > 1 else None
    if person is not None:
        yield _numbered(name, person.name, person.number, parts[1:], person.submitted_at)
    elif parts[0].count(MOODLE) > 1:
        files.problems.append(f"{name}: could be two students'; put it in a folder called like one")
    elif moodle := _MOODLE.match(parts[0]):
        inside = parts[1:] or (moodle["rest"],)
        if moodle["kind"] == "onlinetext":
            files.problems.append(f"{name}: text typed into Moodle; have it handed in as a file")
        elif inside[-1]:
            number = moodle["number"]
            yield _numbered(name, normalize_name(moodle["name"]) or number, number, inside)
    elif len(parts) > 2 and lessons:
        yield Owned(name, normalize_name(parts[1]), (parts[0], *parts[2:]), who=parts[1])
    elif len(parts) > 1 and lessons:
        match = lesson_of(PurePosixPath(parts[1]).stem, (), lessons)
        rest = match.rest if match is not None and match.rank == 2 else ""
        who = rest or PurePosixPath(parts[1]).stem
        yield Owned(name, person_in(rest) or normalize_name(who) or parts[1], parts, who=who)
    elif len(parts) > 1:
        yield Owned(name, normalize_name(parts[0]), parts[1:], who=parts[0])
    else:
        yield Owned(name, "", parts)


def _numbered(
    name: str, owner: str, number: str, inside: tuple[str, ...], submitted_at: str = ""
) -> Owned:
    return Owned(name, owner, inside, submitted_at, f"{owner}\0{number}", number)


def _told_apart(found: list[Owned]) -> list[Owned]:
    """Return them with a number for each of those who have the same name; one of a name needs
    none."""
    namesakes: dict[str, set[str]] = defaultdict(set)
    for one in found:
        namesakes[looks(one.owner)].add(one.who)
    return [
        replace(one, owner=f"{one.owner} ({one.number})")
        if one.number and len(namesakes[looks(one.owner)]) > 1
        else one
        for one in found
    ]


def _tell_empty(files: Files, names: Sequence[str], base: str) -> None:
    used = {name.removeprefix(base).split("/")[0] for name in names if name.startswith(base)}
    folders = {name.removeprefix(base) for name in files.folders if name.startswith(base)}
    files.problems += [
        f"{base}{folder}: an empty folder; nothing was handed in"
        for folder in sorted(folders - used)
        if folder and "/" not in folder
    ]
