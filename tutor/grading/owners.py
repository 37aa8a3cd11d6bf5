"""The owners of submitted files, in the layouts in which submissions arrive.

==================================================  ========================================
``anna.py``, ``anna_vmap-basics.py``                files named after students
``anna/vmap-basics.py``                             a directory per student
``vmap-basics/anna.py``, ``vmap-basics/anna/…``     a directory per lesson
``submission_123/…``, ``submission_metadata.yml``   a Gradescope export
``Anna Lee_123_assignsubmission_file_/…``           a Moodle export; older ones have no directory
==================================================  ========================================

Only names at the top, and Gradescope's own metadata, decide who owns a file; nothing that students
can write into their own directories does.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from tutor.grading.gradescope_export import METADATA, SUBMISSION, Person, read_people
from tutor.grading.layout import (
    MOODLE,
    find_base,
    is_boilerplate,
    is_grouped_by_lesson,
    is_source,
)
from tutor.grading.lesson_names import match_lesson, person_name
from tutor.grading.student_names import normalize_name, visual_key
from tutor.grading.submission_files import SubmissionFiles

_MOODLE = re.compile(
    rf"^(?P<name>.+?)_(?P<number>\d+){MOODLE}(?P<kind>file|onlinetext)_?(?P<rest>.*)$"
)
_UNTRUSTED_METADATA = (
    "ignored: this file is trusted only next to the submission_… directories of a Gradescope export"
)


class OwnedFile(Struct, frozen=True):
    """A file and its owner. `owner` is empty if only the file's name can tell; `owner_id` tells
    owners apart even if their names look the same, and `number` those with equal names; `inside` is
    the path below the owner's directory."""

    name: str
    owner: str
    inside: tuple[str, ...]
    submitted_at: str = ""
    owner_id: str = ""
    number: str = ""

    @property
    def stem(self) -> str:
        return PurePosixPath(self.inside[-1]).stem

    @property
    def is_source(self) -> bool:
        return is_source(self.inside[-1])


def assign_owners(
    files: SubmissionFiles,
    names: Sequence[str],
    graded: Sequence[str],
    known: Sequence[str],
    wrapper: bool = True,
) -> list[OwnedFile]:
    """Return all files, except boilerplate, with their owners. Problems with the layout are added
    to `files.problems`.

    **Arguments:** `graded`: the lessons to grade; `known`: all lessons of the pack; `wrapper`:
    whether directories at the top may be something else than students'.

    Raises:
        tutor.grading.submission_files.Unusable: that is not clear.
    """
    base = find_base(files, names, graded, known) if wrapper else ""
    people = _read_metadata(files, names, base)
    by_lesson = wrapper and is_grouped_by_lesson(files, names, base, known)
    owned: list[OwnedFile] = []
    for name in names:
        if is_boilerplate(name):
            continue
        if PurePosixPath(name).name == METADATA:
            if people is None or name != f"{base}{METADATA}":
                files.problems.append(f"{name}: {_UNTRUSTED_METADATA}")
        elif not name.startswith(base):
            owned.append(OwnedFile(name, "", (PurePosixPath(name).name,)))
        else:
            parts = tuple(name.removeprefix(base).split("/"))
            owned += _assign(files, name, parts, people or {}, known if by_lesson else ())
    _report_empty_folders(files, names, base)
    return _number_namesakes(owned)


def _read_metadata(
    files: SubmissionFiles, names: Sequence[str], base: str
) -> dict[str, Person] | None:
    """Return the submitters that Gradescope lists; None if this is not a Gradescope export."""
    below = (name.removeprefix(base) for name in files.folders if name.startswith(base))
    folders = {name for name in below if SUBMISSION.fullmatch(name)}
    if f"{base}{METADATA}" not in names or not folders:
        return None
    return read_people(files, f"{base}{METADATA}", folders)


def _assign(
    files: SubmissionFiles,
    name: str,
    parts: tuple[str, ...],
    people: dict[str, Person],
    lessons: Sequence[str],
) -> Iterator[OwnedFile]:
    """Yield a file with its owner, unless it is left out.

    **Arguments:** `lessons`: those that the directories at the top are named after, if they are.
    """
    person = people.get(parts[0]) if len(parts) > 1 else None
    if person is not None:
        yield _numbered(name, person.name, person.number, parts[1:], person.submitted_at)
    elif parts[0].count(MOODLE) > 1:
        files.problems.append(
            f"{name}: could belong to two students; move it to a directory named after one"
        )
    elif moodle := _MOODLE.match(parts[0]):
        inside = parts[1:] or (moodle["rest"],)
        if moodle["kind"] == "onlinetext":
            files.problems.append(f"{name}: text typed into Moodle; ask for a file")
        elif inside[-1]:
            number = moodle["number"]
            yield _numbered(name, normalize_name(moodle["name"]) or number, number, inside)
    elif len(parts) > 2 and lessons:
        yield OwnedFile(name, normalize_name(parts[1]), (parts[0], *parts[2:]), owner_id=parts[1])
    elif len(parts) > 1 and lessons:
        stem = PurePosixPath(parts[1]).stem
        match = match_lesson(stem, (), lessons)
        rest = match.rest if match is not None and match.rank == 2 else ""
        owner_id = rest or stem
        owner = person_name(rest) or normalize_name(owner_id) or parts[1]
        yield OwnedFile(name, owner, parts, owner_id=owner_id)
    elif len(parts) > 1:
        yield OwnedFile(name, normalize_name(parts[0]), parts[1:], owner_id=parts[0])
    else:
        yield OwnedFile(name, "", parts)


def _numbered(
    name: str, owner: str, number: str, inside: tuple[str, ...], submitted_at: str = ""
) -> OwnedFile:
    return OwnedFile(name, owner, inside, submitted_at, f"{owner}\0{number}", number)


def _number_namesakes(owned: list[OwnedFile]) -> list[OwnedFile]:
    """Return the files with a number added to the names of owners whose names are equal."""
    namesakes: dict[str, set[str]] = defaultdict(set)
    for file in owned:
        namesakes[visual_key(file.owner)].add(file.owner_id)
    return [
        replace(file, owner=f"{file.owner} ({file.number})")
        if file.number and len(namesakes[visual_key(file.owner)]) > 1
        else file
        for file in owned
    ]


def _report_empty_folders(files: SubmissionFiles, names: Sequence[str], base: str) -> None:
    used = {name.removeprefix(base).split("/")[0] for name in names if name.startswith(base)}
    folders = {name.removeprefix(base) for name in files.folders if name.startswith(base)}
    files.problems += [
        f"{base}{folder}: empty directory; nothing was handed in"
        for folder in sorted(folders - used)
        if folder and "/" not in folder
    ]
