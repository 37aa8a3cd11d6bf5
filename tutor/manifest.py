"""Packs: the fields of `pack.yaml`, and an opened pack with its lessons."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from tutor.lesson import Id, Lesson, Line

FORMAT = 1
"""The pack format that this version reads."""

VERSION = r"^[0-9]+(\.[0-9]+)*$(?!\n)"
LANGUAGE = (
    r"^[A-Za-z]{2,3}(-[A-Za-z]{3}){0,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?"
    r"(-([0-9A-Za-z]{5,8}|[0-9][0-9A-Za-z]{3}))*(-[0-9A-WY-Za-wy-z](-[0-9A-Za-z]{2,8})+)*"
    r"(-x(-[0-9A-Za-z]{1,8})+)?$(?!\n)"
)
"""BCP 47 (RFC 5646, section 2.1): language, script, region, variants, extensions, private use. The
language has two or three letters: longer ones are not in use, but are words such as `german`."""

EDITION = r"^([0-9A-Za-z]+([.+-][0-9A-Za-z]+)*)?$(?!\n)"

ONE_LINE = r"^[^\t\r\n]*[^\s][^\t\r\n]*$(?!\n)"

OneLine = Annotated[str, Meta(pattern=ONE_LINE, max_length=200)]


class MapEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of a track's map."""

    torch: Annotated[OneLine, Meta(description="PyTorch code.")]
    jax: Annotated[OneLine, Meta(description="What to write in JAX.")]
    lesson: Annotated[Id | None, Meta(description="The lesson that teaches it, of any track.")] = (
        None
    )
    note: Annotated[OneLine | None, Meta(description="What else to know about it.")] = None


class Track(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sequence of lessons."""

    id: Annotated[Id, Meta(description="Name of the track, and of its directory.")]
    title: Annotated[Line, Meta(description="Title in lists of lessons.")]
    about: Annotated[str, Meta(max_length=1000, description="What the track is about.")] = ""
    lessons: Annotated[tuple[Id, ...], Meta(min_length=1, description="Lesson ids, in order.")]
    map: Annotated[
        tuple[MapEntry, ...],
        Meta(max_length=24, description="What PyTorch code becomes in JAX, row by row."),
    ] = ()
    review: Annotated[
        Id | None,
        Meta(
            description="A lesson of this track, normally its last; passing it marks the others "
            "as known."
        ),
    ] = None


class LatePenalty(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Points deducted from late submissions."""

    percent_per_day: Annotated[
        float,
        Meta(
            ge=0, le=100, description="Percentage of the lesson's points deducted per started day."
        ),
    ] = 0.0
    grace_hours: Annotated[
        float,
        Meta(
            ge=0,
            le=8760,
            description="Hours without a penalty; after them, lateness counts from the deadline.",
        ),
    ] = 0.0
    most_percent: Annotated[
        float, Meta(ge=0, le=100, description="Maximum total deduction, as a percentage.")
    ] = 100.0


class Grading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Grading settings of all lessons of the pack."""

    late: LatePenalty = LatePenalty()


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pack.yaml`."""

    format: Annotated[int, Meta(ge=1, description="Pack format; currently 1.")]
    id: Annotated[
        Id, Meta(description="Unique name of the pack; learners' progress is stored under it.")
    ]
    title: Annotated[Line, Meta(description="Title of the pack.")]
    version: Annotated[
        str,
        Meta(
            pattern=EDITION,
            max_length=40,
            description='Version of the pack, such as "1.2"; quote it, or 1.10 is read as 1.1.',
        ),
    ] = ""
    about: Annotated[str, Meta(max_length=4000, description="What the pack is about.")] = ""
    licence: Annotated[
        str, Meta(max_length=200, description="Licence of the pack, such as CC BY 4.0.")
    ] = ""
    lang: Annotated[
        str,
        Meta(
            pattern=LANGUAGE,
            max_length=60,
            description="Language of the pack's texts, as in HTML: a BCP 47 tag such as de or "
            "pt-BR.",
        ),
    ] = "en"
    requires: Annotated[
        str, Meta(pattern=VERSION, description="Oldest compatible jaxtutor version.")
    ] = "0"
    tracks: Annotated[tuple[Track, ...], Meta(min_length=1, description="The tracks, in order.")]
    grading: Annotated[
        Grading, Meta(description="Settings of `jaxtutor grade` for all lessons.")
    ] = Grading()


class Pack(Struct, frozen=True):
    """An opened pack: the manifest and its lessons, in order.

    Iterating over `lessons`, `len` and `in` read no lesson files; the first access to a lesson
    reads its file, and raises `tutor.pack.BadPack` if it has problems.
    """

    root: Path
    manifest: Manifest
    lessons: Mapping[str, Lesson]

    @property
    def id(self) -> str:
        return self.manifest.id

    def lesson(self, lesson_id: str) -> Lesson:
        """Return a lesson.

        Raises:
            KeyError: no such lesson.
            BadPack: it has problems.
        """
        return self.lessons[lesson_id]

    def others(self, lesson_id: str) -> set[str]:
        """Return the ids of all other lessons."""
        return self.lessons.keys() - {lesson_id}

    def track_of(self, lesson_id: str) -> Track:
        """Return the track of a lesson."""
        return next(track for track in self.manifest.tracks if lesson_id in track.lessons)

    def next_after(self, lesson_id: str) -> str | None:
        """Return the id of the following lesson."""
        order = list(self.lessons)
        following = order.index(lesson_id) + 1
        return order[following] if following < len(order) else None

    def solution(self, lesson_id: str) -> str | None:
        """Return the solution without the markers of regions (`tutor.marked_regions`), or None if
        the pack was built without solutions."""
        from tutor.marked_regions import without_markers

        written = self.written_solution(lesson_id)
        return without_markers(written) if written is not None else None

    def written_solution(self, lesson_id: str) -> str | None:
        """Return the solution as it is in its file."""
        lesson = self.lessons[lesson_id]
        for base in solution_folders(self.root):
            path = base / lesson.track / f"{lesson.id}.py"
            if path.is_file():
                return path.read_text(encoding="utf-8-sig")
        return None

    def variants(self, lesson_id: str) -> list[Path]:
        """Return alternative solutions: files in the directory `<lesson>/` next to the solution."""
        lesson = self.lessons[lesson_id]
        folders = (base / lesson.track / lesson.id for base in solution_folders(self.root))
        return sorted(path for folder in folders for path in folder.glob("*.py"))

    def sample_submissions(self, lesson_id: str) -> list[str]:
        """Return code similar to what learners write, likeliest first: the solution and its
        variants, or the starter if there are none."""
        variants = [path.read_text(encoding="utf-8") for path in self.variants(lesson_id)]
        samples = [code for code in (self.solution(lesson_id), *variants) if code is not None]
        return samples or [self.lessons[lesson_id].starter]


def solution_folders(root: Path) -> tuple[Path, ...]:
    """Return directories that may hold a pack's solutions: inside it, or next to one named
    `lessons`."""
    inside = root / "solutions"
    return (inside, root.parent / "solutions") if root.name == "lessons" else (inside,)
