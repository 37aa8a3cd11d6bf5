"""Gradescope exports: a directory per submission, and next to them a file that lists submitters.

That file is trusted only there, because a student can hand in one with the same name.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any

import yaml
from msgspec import Struct

from tutor.grading.student_names import normalize_name
from tutor.grading.submission_files import SubmissionFiles, Unreadable
from tutor.pack.yaml_nodes import LOADER

METADATA = "submission_metadata.yml"
SUBMISSION = re.compile(r"submission_\d+")
"""The directory of one submission."""

EXPORT = re.compile(r"assignment_\d+_export")
"""The directory that contains all of them."""

MAX_METADATA = 16 << 20
MAX_EVENTS = 1_000_000
"""YAML events: about 2,000 submissions with 30 tests each, read in 10 seconds."""


class Person(Struct, frozen=True):
    """The submitter of a submission; `number` tells namesakes apart."""

    name: str
    number: str
    submitted_at: str


class _TooLarge(Exception):
    pass


def read_people(
    files: SubmissionFiles, metadata: str, folders: Collection[str]
) -> dict[str, Person]:
    """Return the submitters by Gradescope's directories. Problems are added to `files.problems`.

    **Arguments:** `metadata`: the name of the file; `folders`: the directories next to it.
    """
    unknown = "names and times are unknown"
    try:
        data = files.read(metadata)
        if len(data) > MAX_METADATA:
            raise _TooLarge
        events = _limited(yaml.parse(data.decode("utf-8-sig"), Loader=LOADER))
        people = {folder: person for folder, person in _parse(events, folders) if folder in folders}
    except _TooLarge:
        files.problems.append(
            f"{metadata}: more than {MAX_METADATA >> 20} MiB or {MAX_EVENTS:,} entries, so "
            f"{unknown}; delete the entries under `:results:`"
        )
        return {}
    except (Unreadable, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        position = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        files.problems.append(
            f"{metadata}{position}: cannot be read, so {unknown}; export the submissions again"
        )
        return {}
    if not people:
        files.problems.append(
            f"{metadata}: describes none of the directories next to it, so {unknown}; "
            "export the submissions again"
        )
    return people


def _limited(events: Iterator[Any]) -> Iterator[Any]:
    for number, event in enumerate(events):
        if number > MAX_EVENTS:
            raise _TooLarge
        yield event


def _parse(events: Iterator[Any], folders: Collection[str]) -> Iterator[tuple[str, Person]]:
    """Yield one submission at a time: the file also contains all test results."""
    if not any(isinstance(event, yaml.DocumentStartEvent) for event in events):
        return
    if not isinstance(next(events), yaml.MappingStartEvent):
        return
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        folder, entry = str(_node(key, events)), _node(next(events), events)
        if not isinstance(entry, dict) or folder not in folders:
            continue
        listed = entry.get(":submitters")
        people = [one for one in listed if isinstance(one, dict)] if type(listed) is list else []
        names = [str(one[":name"]) for one in people if one.get(":name")]
        numbers = [
            normalize_name(str(one.get(":sid") or one.get(":email") or "")) for one in people
        ]
        name = normalize_name(" & ".join(names)) or folder
        number = ", ".join(filter(None, numbers)) or folder.removeprefix("submission_")
        created = entry.get(":created_at")
        yield folder, Person(name, number, created if type(created) is str else "")


def _node(event: Any, events: Iterator[Any]) -> Any:
    """Return the node that begins with an event, as text, lists and mappings. An alias becomes
    None: expanding aliases could make a small file huge."""
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_node(item, events))
        return items
    if isinstance(event, yaml.MappingStartEvent):
        mapping = {}
        while not isinstance(key := next(events), yaml.MappingEndEvent):
            name = _node(key, events)
            mapping[str(name)] = _node(next(events), events)
        return mapping
    return None
