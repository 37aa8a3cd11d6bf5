"""Whose file is whose, in the layouts in which submissions arrive.

================================================  ===========================================
``anna.py``, ``anna_vmap-basics.py``              files, named after who handed them in
``anna/vmap-basics.py``                           a folder for each
``submission_123/…``, ``submission_metadata.yml``  what Gradescope exports
``Anna Lee_123_assignsubmission_file_/…``         what Moodle exports; older ones have no folder
================================================  ===========================================
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

import yaml
from msgspec import Struct

from tutor.grading.handed_in import Files, Unreadable
from tutor.pack.source import LOADER

METADATA = "submission_metadata.yml"
SOURCES = (".py", ".ipynb")
_BESIDE = ("readme", "license", "licence", "notice", "makefile")
_MOODLE = re.compile(
    r"^(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?(?P<rest>.*)$"
)


class Owned(Struct, frozen=True):
    """A file. `owner` is empty where only its name can tell; `inside` is where it lies below its
    owner's folder, its own name last."""

    name: str
    owner: str
    inside: tuple[str, ...]
    submitted_at: str = ""

    @property
    def stem(self) -> str:
        return PurePosixPath(self.inside[-1]).stem

    @property
    def is_source(self) -> bool:
        return self.inside[-1].casefold().endswith(SOURCES)


class _Person(Struct, frozen=True):
    """What Gradescope tells of who handed something in."""

    name: str
    submitted_at: str


def owned(files: Files, names: Sequence[str]) -> list[Owned]:
    """All files with their owners, and those besides that are nobody's and need not be. What can be
    told of the layout alone is added to the files' problems."""
    described = next((name for name in names if PurePosixPath(name).name == METADATA), None)
    base = _base(files, names, described)
    people = _people(files, described) if described is not None else {}
    found = []
    for name in names:
        parts = tuple(name.removeprefix(base).split("/"))
        if name == described or PurePosixPath(name).stem.casefold() in _BESIDE:
            continue
        person = people.get(parts[0]) or people.get(PurePosixPath(parts[0]).stem)
        if person is not None:
            found.append(Owned(name, person.name, parts[1:] or parts, person.submitted_at))
        elif moodle := _MOODLE.match(parts[0]):
            inside = parts[1:] or (moodle["rest"],)
            if moodle["kind"] == "onlinetext":
                what = "text typed into Moodle; have it handed in as a file"
                files.problems.append(f"{name}: {what}")
            elif inside[-1]:
                found.append(Owned(name, f"{clean(moodle['name'])}\0{moodle['number']}", inside))
        elif len(parts) > 1:
            found.append(Owned(name, clean(parts[0]), parts[1:]))
        else:
            found.append(Owned(name, "", parts))
    _tell_empty(files, names, base)
    return _told_apart(found)


def clean(name: str) -> str:
    """A name as it is used everywhere: one way to write an é, one space between words."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def _base(files: Files, names: Sequence[str], described: str | None) -> str:
    """The folder that holds everybody's: not the top of a zip that holds one folder with all."""
    if described is not None:
        return described.removesuffix(METADATA)
    tops = {name.split("/")[0] for name in names}
    if not files.zipped or len(tops) != 1 or not all("/" in name for name in names):
        return ""
    (top,) = tops
    below = [name.split("/")[1:] for name in names]
    folders = {parts[0] for parts in below if len(parts) > 1}
    whole = clean(top).casefold() == clean(files.name).casefold()
    only_folders = len(folders) > 1 and all(len(parts) > 1 for parts in below)
    return f"{top}/" if whole or only_folders else ""


def _told_apart(found: list[Owned]) -> list[Owned]:
    """Two people of one name have numbers; one of a name needs none."""
    numbers: dict[str, set[str]] = defaultdict(set)
    for one in found:
        name, _, number = one.owner.partition("\0")
        numbers[name].add(number)

    def told(owner: str) -> str:
        name, _, number = owner.partition("\0")
        return f"{name} ({number})" if number and len(numbers[name]) > 1 else name

    return [Owned(one.name, told(one.owner), one.inside, one.submitted_at) for one in found]


def _tell_empty(files: Files, names: Sequence[str], base: str) -> None:
    used = {name.split("/")[0] for name in names}
    if not base:
        files.problems += [
            f"{folder}: an empty folder; nothing was handed in"
            for folder in sorted(files.folders - used)
        ]


# --- Gradescope ------------------------------------------------------------------------------


def _people(files: Files, described: str) -> dict[str, _Person]:
    """By the folders that Gradescope has made for them."""
    try:
        text = files.read(described).decode("utf-8-sig")
        return dict(_described(yaml.parse(text, Loader=LOADER)))
    except (Unreadable, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        what = "cannot be read, so names and times are not known; export the submissions again"
        files.problems.append(f"{described}{place}: {what}")
        return {}


def _described(events: Iterator[Any]) -> Iterator[tuple[str, _Person]]:
    """One at a time, for Gradescope's file holds everything that was ever told them, too."""
    next(event for event in events if isinstance(event, yaml.DocumentStartEvent))
    if not isinstance(next(events), yaml.MappingStartEvent):
        return
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        folder, about = str(_plain(key, events)), _plain(next(events), events)
        if not isinstance(about, dict):
            continue
        listed = about.get(":submitters")
        people = [one for one in listed if isinstance(one, dict)] if type(listed) is list else []
        names = [str(one[":name"]) for one in people if one.get(":name")]
        numbers = [str(one.get(":sid") or one.get(":email") or "") for one in people]
        name = clean(" & ".join(names)) or folder
        number = ", ".join(filter(None, numbers)) or folder.removeprefix("submission_")
        created = about.get(":created_at")
        yield folder, _Person(f"{name}\0{number}", created if type(created) is str else "")


def _plain(event: Any, events: Iterator[Any]) -> Any:
    """The node that begins with an event: texts, lists and mappings of them; an alias is nothing,
    so that what is small stays small."""
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_plain(item, events))
        return items
    if isinstance(event, yaml.MappingStartEvent):
        found = {}
        while not isinstance(key := next(events), yaml.MappingEndEvent):
            name = _plain(key, events)
            found[str(name)] = _plain(next(events), events)
        return found
    return None
