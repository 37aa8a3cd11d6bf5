"""Packs: the fields of `pack.yaml`, and an opened pack with its lessons."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from tutor.lesson import Id, Lesson, Line

FORMAT = 1
"""The pack format this version reads."""

EDITION = r"^([0-9A-Za-z]+([.+-][0-9A-Za-z]+)*)?$(?!\n)"


class Track(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A chapter of the course, in the order in which its lessons are taught."""

    id: Id
    title: Line
    about: Annotated[str, Meta(max_length=1000)] = ""
    lessons: Annotated[tuple[Id, ...], Meta(min_length=1, description="Lesson ids, in order.")]


class LatePenalty(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What being late costs when submissions are graded."""

    percent_per_day: Annotated[
        float,
        Meta(ge=0, le=100, description="Of the lesson's points, for each day that has begun."),
    ] = 0.0
    grace_hours: Annotated[
        float, Meta(ge=0, le=8760, description="So late costs nothing; later, all of it counts.")
    ] = 0.0
    most_percent: Annotated[
        float, Meta(ge=0, le=100, description="However late it is, no more is taken.")
    ] = 100.0


class Grading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How submissions to any of the pack's lessons are graded."""

    late: LatePenalty = LatePenalty()


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pack.yaml`."""

    format: Annotated[int, Meta(ge=1, description="The format of this pack; now 1.")]
    id: Annotated[Id, Meta(description="Progress is kept under this name.")]
    title: Line
    version: Annotated[
        str,
        Meta(
            pattern=EDITION,
            max_length=40,
            description='Which edition this is, such as "1.2"; in quotes, or 1.10 is a number.',
        ),
    ] = ""
    about: Annotated[str, Meta(max_length=4000)] = ""
    licence: Annotated[str, Meta(max_length=200)] = ""
    requires: Annotated[
        str,
        Meta(
            pattern=r"^[0-9]+(\.[0-9]+)*$(?!\n)",
            description="The oldest jaxtutor that can read this.",
        ),
    ] = "0"
    tracks: Annotated[tuple[Track, ...], Meta(min_length=1)]
    grading: Grading = Grading()


class Pack(Struct, frozen=True):
    """An opened pack: the manifest and its lessons, in the order they are taught.

    To iterate over `lessons`, to count them or to look for one reads no lesson; to get one does,
    the first time. Where something is wrong with it, `tutor.pack.BadPack` is raised then.
    """

    root: Path
    manifest: Manifest
    lessons: Mapping[str, Lesson]

    @property
    def id(self) -> str:
        return self.manifest.id

    def lesson(self, lesson_id: str) -> Lesson:
        """Raises: KeyError: no such lesson. BadPack: it cannot be used."""
        return self.lessons[lesson_id]

    def others(self, lesson_id: str) -> set[str]:
        """The ids of all lessons but one: where that may point to."""
        return self.lessons.keys() - {lesson_id}

    def next_after(self, lesson_id: str) -> str | None:
        """The id of the lesson that follows."""
        order = list(self.lessons)
        place = order.index(lesson_id) + 1
        return order[place] if place < len(order) else None

    def solution(self, lesson_id: str) -> str | None:
        """The pack's own answer, or None where the pack travels without solutions."""
        lesson = self.lessons[lesson_id]
        for base in solution_folders(self.root):
            path = base / lesson.track / f"{lesson.id}.py"
            if path.is_file():
                return path.read_text(encoding="utf-8")
        return None

    def variants(self, lesson_id: str) -> list[Path]:
        """Right answers written otherwise: the files in the folder that is named like the lesson
        and lies beside its solution."""
        lesson = self.lessons[lesson_id]
        folders = (base / lesson.track / lesson.id for base in solution_folders(self.root))
        return sorted(path for folder in folders for path in folder.glob("*.py"))

    def likely(self, lesson_id: str) -> list[str]:
        """Code like that which people write for a lesson, the likeliest first: what the pack knows
        to be right, or its starter."""
        variants = [path.read_text(encoding="utf-8") for path in self.variants(lesson_id)]
        known = [code for code in (self.solution(lesson_id), *variants) if code is not None]
        return known or [self.lessons[lesson_id].starter]


def solution_folders(root: Path) -> tuple[Path, ...]:
    """Where a pack's solutions may be: inside it, or beside a folder called `lessons`."""
    inside = root / "solutions"
    return (inside, root.parent / "solutions") if root.name == "lessons" else (inside,)
