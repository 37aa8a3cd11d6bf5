"""Write where the course teaches what other texts teach: `coverage.yaml` becomes `coverage.md`.

.venv/bin/python docs/coverage.py
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import yaml
from msgspec import Meta, Struct

from tutor.manifest import Pack
from tutor.pack import load_pack

DOCS = Path(__file__).parent
SOURCE, PAGE = DOCS / "coverage.yaml", DOCS / "coverage.md"
BRIEF = "brief"
"""Stands for a check where the lesson's text only says it."""

INTRODUCTION = """\
# What the course covers

Five texts tell PyTorch developers how to think in JAX; below them are the pages with which Flax,
JAX and Optax tell beginners to start, and the guides that go on from there. The tables list their
topics, and for each the lessons of the course and the check that tests it; *brief* means that the
lesson's text says it and no check needs it. Topics that are open are what the course lacks. To add
a topic, edit `coverage.yaml` and run `.venv/bin/python docs/coverage.py`.
"""


class Topic(Struct, forbid_unknown_fields=True):
    """Something that a text teaches. `lessons`: checks by lesson."""

    topic: Annotated[str, Meta(min_length=1)]
    lessons: dict[str, str] = msgspec.field(name="in", default_factory=dict)


class Text(Struct, forbid_unknown_fields=True):
    """A text that teaches JAX to PyTorch developers. Lessons name it under `sources`, unless it has
    an address of its own."""

    text: str
    about: str
    topics: list[Topic]
    url: str = ""


def texts() -> list[Text]:
    """Return the texts and their topics."""
    return msgspec.convert(yaml.safe_load(SOURCE.read_text("utf-8")), list[Text])


def problems(found: list[Text], course: Pack) -> Iterator[str]:
    """Yield what the course does not have: lessons, checks, and texts that no lesson cites."""
    for text in found:
        for topic in text.topics:
            for lesson, check in topic.lessons.items():
                if lesson not in course.lessons:
                    yield f"{topic.topic!r}: there is no lesson {lesson!r}"
                elif check != BRIEF and check not in (
                    c.title for c in course.lesson(lesson).checks
                ):
                    yield f"{topic.topic!r}: {lesson} has no check {check!r}"
    sources = {source for lesson in course.lessons.values() for source in lesson.sources}
    for text in found:
        if not text.url and text.text not in sources:
            yield f"no lesson has {text.text!r} among its sources"


def page(found: list[Text]) -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for text in found:
        address = f" <{text.url}>" if text.url else ""
        parts.append(f"\n## {text.text}\n\n{text.about[0].upper()}{text.about[1:]}.{address}\n")
        parts.append("\n| topic | lesson: check |\n|---|---|\n")
        parts += [f"| {one.topic} | {_where(one)} |\n" for one in text.topics]
    unfinished = sum(not one.lessons for text in found for one in text.topics)
    if unfinished:
        parts.append(f"\n{unfinished} topics are open: no lesson teaches them.\n")
    return "".join(parts)


def _where(topic: Topic) -> str:
    if not topic.lessons:
        return "**open**"
    return "; ".join(
        f"`{lesson}`: {'*brief*' if check == BRIEF else check}"
        for lesson, check in topic.lessons.items()
    )


def main() -> int:
    found = texts()
    wrong = [*problems(found, load_pack())]
    for one in wrong:
        print(f"docs/{SOURCE.name}: {one}", file=sys.stderr)
    PAGE.write_text(page(found), "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
