"""What Gradescope exports: a folder for each submission, and next to them a file that says whose
they are. It is believed there alone, for anybody can hand in a file that is called so."""

import re
from collections.abc import Collection, Iterator
from typing import Any

import yaml
from msgspec import Struct

from tutor.grading.student_names import normalize_name
from tutor.grading.submission_files import Files, Unreadable
from tutor.pack.yaml_nodes import LOADER

METADATA = "submission_metadata.yml"
SUBMISSION = re.compile(r"submission_\d+")
"""What Gradescope calls the folder of a submission."""

EXPORT = re.compile(r"assignment_\d+_export")
"""What it calls the folder with all of them."""

MAX_METADATA = 16 << 20
MAX_EVENTS = 1_000_000
"""Names, lists and values in it: about 2,000 submissions with 30 tests each, read in 10 seconds."""


class Person(Struct, frozen=True):
    """Who handed something in; `number` tells namesakes apart."""

    name: str
    number: str
    submitted_at: str


class _TooLarge(Exception):
    pass


def people(files: Files, described: str, folders: Collection[str]) -> dict[str, Person]:
    """Return who handed in what, by the folders that Gradescope has made for them. What cannot be
    known is added to the files' problems.

    **Arguments:** `described`: the metadata; `folders`: those next to them.
    """
    unknown = "so names and times are not known"
    try:
        data = files.read(described)
        if len(data) > MAX_METADATA:
            raise _TooLarge
        events = _counted(yaml.parse(data.decode("utf-8-sig"), Loader=LOADER))
        found = {folder: one for folder, one in _described(events, folders) if folder in folders}
    except _TooLarge:
        files.problems.append(
            f"{described}: more than {MAX_METADATA >> 20} MiB or {MAX_EVENTS:,} entries, which "
            f"take too long to read, {unknown}; delete what stands under `:results:`"
        )
        return {}
    except (Unreadable, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        what = f"cannot be read, {unknown}; export the submissions again"
        files.problems.append(f"{described}{place}: {what}")
        return {}
    if not found:
        what = "describes none of the folders next to it"
        files.problems.append(f"{described}: {what}, {unknown}; export the submissions again")
    return found


def _counted(events: Iterator[Any]) -> Iterator[Any]:
    for number, event in enumerate(events):
        if number > MAX_EVENTS:
            raise _TooLarge
        yield event


def _described(events: Iterator[Any], folders: Collection[str]) -> Iterator[tuple[str, Person]]:
    """Yield one at a time, for the file holds everything that was ever told them, too."""
    if not any(isinstance(event, yaml.DocumentStartEvent) for event in events):
        return
    if not isinstance(next(events), yaml.MappingStartEvent):
        return
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        folder, about = str(_plain(key, events)), _plain(next(events), events)
        if not isinstance(about, dict) or folder not in folders:
            continue
        listed = about.get(":submitters")
        people = [one for one in listed if isinstance(one, dict)] if type(listed) is list else []
        names = [str(one[":name"]) for one in people if one.get(":name")]
        numbers = [
            normalize_name(str(one.get(":sid") or one.get(":email") or "")) for one in people
        ]
        name = normalize_name(" & ".join(names)) or folder
        number = ", ".join(filter(None, numbers)) or folder.removeprefix("submission_")
        created = about.get(":created_at")
        yield folder, Person(name, number, created if type(created) is str else "")


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
