"""Reading a pack's YAML: its manifest, one lesson, or everything."""

import graphlib
from collections.abc import Collection, Mapping
from functools import cached_property, partial

import msgspec

from tutor import __version__
from tutor.lesson import Lesson
from tutor.manifest import FORMAT, Manifest, Pack
from tutor.pack.data_folder import DataFolder, data_file
from tutor.pack.folder import MANIFEST, Folder
from tutor.pack.lesson_reader import LessonReader
from tutor.pack.made_starter import made_starter
from tutor.pack.member_names import fault_of
from tutor.pack.problems import BadPack, BadSource, Problem
from tutor.pack.releases import for_this_release
from tutor.pack.shared_texts import SharedTexts
from tutor.pack.struct_reader import StructReader
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, parse
from tutor.suggestions import choice


class PackReader:
    """Reads a pack and collects all its problems.

    **Arguments:** `manifest`: the contents of `pack.yaml`, if already read.
    """

    def __init__(self, folder: Folder, manifest: bytes | None = None) -> None:
        self._folder = folder
        self._source = manifest
        self._problems: list[Problem] = []
        self.nodes: dict[str, MappingNode] = {}
        """The YAML of each lesson read so far."""
        self.texts = SharedTexts(folder)
        self._data = DataFolder(folder)

    def manifest(self) -> Manifest:
        """Return the manifest without reading lessons.

        Raises:
            BadPack: it has problems.
        """
        manifest, node = self._manifest
        self._duplicates(manifest, node)
        self._portable(manifest, node)
        self._named_by_tracks(manifest, node)
        self._raise_problems()
        return manifest

    def lesson(self, track: str, lesson_id: str, known: Collection[str]) -> Lesson:
        """Return one lesson without reading others.

        **Arguments:** `known`: the ids of all lessons.

        Raises:
            BadPack: it has problems.
        """
        lesson = self._lesson(track, lesson_id)
        if lesson is not None:
            self._unknown_needs(lesson, known)
        self._raise_problems()
        assert lesson is not None, "no lesson, and no problem"
        return lesson

    def whole(self) -> Pack:
        """Return the pack with all lessons read and validated together.

        Raises:
            BadPack: it has problems.
        """
        pack = self.survey()
        self._raise_problems()
        return pack

    def survey(self) -> Pack:
        """Return the pack with its valid lessons; `problems` lists what is wrong with the others.

        Raises:
            BadPack: the manifest has problems, so the lessons are unknown.
        """
        manifest, node = self._manifest
        self._duplicates(manifest, node)
        self._portable(manifest, node)
        self._named_by_tracks(manifest, node)
        tracks: dict[str, str] = {}
        for track in manifest.tracks:
            for lesson_id in track.lessons:
                tracks.setdefault(lesson_id, track.id)
        read = {lesson_id: self._lesson(track, lesson_id) for lesson_id, track in tracks.items()}
        lessons = {name: lesson for name, lesson in read.items() if lesson is not None}
        self._unlisted(manifest)
        for lesson in lessons.values():
            self._unknown_needs(lesson, tracks)
        self._cycles(lessons)
        return Pack(self._folder.root, manifest, lessons)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems so far, sorted."""
        return BadPack(self._problems).problems

    # --- pack.yaml -------------------------------------------------------------------------

    @cached_property
    def _manifest(self) -> tuple[Manifest, MappingNode]:
        node = self._node(MANIFEST, self._source)
        if node is None:
            raise BadPack(self._problems)
        self._refuse_newer(node)
        reader = StructReader(self._folder.shown(MANIFEST))
        manifest = reader.struct(Manifest, node)
        self._problems += reader.problems
        if manifest is None:
            raise BadPack(self._problems)
        return manifest, node

    def _refuse_newer(self, node: MappingNode) -> None:
        """Check the format first: a newer one may have any keys."""
        found, requires = node.get("format"), node.get("requires")
        version = requires.value if isinstance(requires, ScalarNode) else None
        if isinstance(found, ScalarNode) and isinstance(found.value, int) and found.value > FORMAT:
            at, subject = found, f"pack format {found.value}"
        elif isinstance(requires, ScalarNode) and _newer(str(version), __version__):
            at, subject = requires, "this pack"
        else:
            return
        required = f"jaxtutor {version} or newer" if version else "a newer jaxtutor"
        ours = f"this is jaxtutor {__version__}, which reads format {FORMAT}"
        message, remedy = (
            f"{subject} needs {required}; {ours}",
            "run: pip install --upgrade jaxtutor",
        )
        raise BadPack([self._folder.problem(MANIFEST, message, at.line, at.column, remedy)])

    def _duplicates(self, manifest: Manifest, node: MappingNode) -> None:
        tracks: set[str] = set()
        files: dict[str, str] = {}
        for number, track in enumerate(manifest.tracks):
            if track.id in tracks:
                second = _at(node, "tracks", number, "id")
                remedy = "change its id, or move its lessons into the first"
                self._complain(MANIFEST, second, f"duplicate track {track.id!r}", remedy)
            tracks.add(track.id)
            for index, lesson_id in enumerate(track.lessons):
                if lesson_id in files:
                    item = _at(node, "tracks", number, "lessons", index)
                    other = files[lesson_id]
                    message = f"duplicate lesson {lesson_id!r}, already listed as {other}"
                    self._complain(MANIFEST, item, message, "list it once, or rename one of them")
                files.setdefault(lesson_id, file_of(track.id, lesson_id))

    def _portable(self, manifest: Manifest, node: MappingNode) -> None:
        """Refuse ids that cannot be the name of a file or directory on every system."""
        named: list[tuple[str, tuple[str | int, ...]]] = [(manifest.id, ("id",))]
        for number, track in enumerate(manifest.tracks):
            named.append((track.id, ("tracks", number, "id")))
            named += [
                (lesson_id, ("tracks", number, "lessons", index))
                for index, lesson_id in enumerate(track.lessons)
            ]
        for name, path in named:
            if fault := fault_of(name):
                key = "lessons" if "lessons" in path else "id"
                self._complain(MANIFEST, _at(node, *path), f"{key}: {fault}", "choose another id")

    def _named_by_tracks(self, manifest: Manifest, node: MappingNode) -> None:
        """Refuse unknown lessons in the maps and reviews of tracks."""
        known = {lesson for track in manifest.tracks for lesson in track.lessons}
        for number, track in enumerate(manifest.tracks):
            for row, entry in enumerate(track.map):
                if entry.lesson is not None and entry.lesson not in known:
                    at = _at(node, "tracks", number, "map", row, "lesson")
                    message = f"lesson: unknown lesson {entry.lesson!r}"
                    self._complain(MANIFEST, at, message, choice(entry.lesson, known, ""))
            if track.review is not None and track.review not in track.lessons:
                at = _at(node, "tracks", number, "review")
                message = f"review: {track.review!r} is not a lesson of this track"
                remedy = choice(track.review, track.lessons, "")
                self._complain(MANIFEST, at, message, remedy)

    def _unlisted(self, manifest: Manifest) -> None:
        listed = {
            file_of(track.id, lesson) for track in manifest.tracks for lesson in track.lessons
        }
        root = self._folder.root
        for path in sorted(root.glob("*/*.yaml")):
            file = path.relative_to(root).as_posix()
            if file not in listed:
                name, track = path.stem, path.parent.name
                remedy = f"add {name} to track {track} in {MANIFEST}, or move the file elsewhere"
                self._complain(file, None, f"this lesson is not listed in {MANIFEST}", remedy)

    # --- lessons ---------------------------------------------------------------------------

    def _lesson(self, track: str, lesson_id: str) -> Lesson | None:
        file = file_of(track, lesson_id)
        if self._folder.stamp(file) is None:
            message = f"lesson {lesson_id!r}: the file {file} does not exist"
            remedy = self._missing_file(lesson_id)
            self._complain(MANIFEST, self._items.get(lesson_id), message, remedy)
            return None
        node = self._node(file)
        if node is None:
            return None
        self.nodes[lesson_id] = node
        starter = partial(made_starter, self._folder.root, track, lesson_id)
        reader = LessonReader(self._folder.shown(file), self.texts, starter)
        lesson = reader.lesson(node, track, lesson_id)
        self._problems += reader.problems
        if lesson is None or (lesson := self._with_data(lesson, node)) is None:
            return None
        recorded = self._folder.root / recording_of(lesson_id)
        lesson = for_this_release(lesson)
        return msgspec.structs.replace(lesson, recorded=str(recorded))

    def _with_data(self, lesson: Lesson, node: MappingNode) -> Lesson | None:
        """Return the lesson with its data files found; None if one is missing or unusable."""
        before = len(self._problems)
        found = {}
        for name, file in lesson.data.items():
            try:
                found[name] = self._data.located(file)
            except BadSource as error:
                at = _at(node, "data", name, "file")
                message = f"{data_file(file.file)}: {error.problem.message}"
                where = file_of(lesson.track, lesson.id)
                self._complain(where, at, message, error.problem.remedy)
        if len(self._problems) > before:
            return None
        return msgspec.structs.replace(lesson, data=found) if found else lesson

    @cached_property
    def _items(self) -> dict[str, Node]:
        """The manifest's entry of each lesson."""
        manifest, node = self._manifest
        items: dict[str, Node] = {}
        for number, track in enumerate(manifest.tracks):
            listed = _at(node, "tracks", number, "lessons")
            assert isinstance(listed, SequenceNode)
            for lesson_id, item in zip(track.lessons, listed.items, strict=True):
                items.setdefault(lesson_id, item)
        return items

    def _unknown_needs(self, lesson: Lesson, known: Collection[str]) -> None:
        for number, need in enumerate(lesson.needs):
            if need not in known:
                item = _at(self.nodes[lesson.id], "needs", number)
                message = f"needs: unknown lesson {need!r}"
                remedy = choice(need, set(known) - {lesson.id}, "remove `needs`")
                self._complain(file_of(lesson.track, lesson.id), item, message, remedy)

    def _cycles(self, lessons: Mapping[str, Lesson]) -> None:
        graph = {
            lesson.id: [need for need in lesson.needs if need in lessons]
            for lesson in lessons.values()
        }
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            cycle: list[str] = error.args[1]
            first = lessons[cycle[0]]
            path = " needs ".join(reversed(cycle))
            needs = self.nodes[first.id].get("needs")
            message = f"circular needs: {path}"
            remedy = "remove one of them from a lesson's `needs`"
            self._complain(file_of(first.track, first.id), needs, message, remedy)

    # --- files -----------------------------------------------------------------------------

    def _node(self, file: str, source: bytes | None = None) -> MappingNode | None:
        try:
            data = self._folder.read(file) if source is None else source
            node, problems = parse(data, self._folder.shown(file))
        except BadSource as error:
            self._problems.append(error.problem)
            return None
        self._problems += problems
        return node

    def _missing_file(self, lesson_id: str) -> str:
        """Return a remedy for a lesson whose file is missing."""
        found = sorted(self._folder.root.glob(f"*/{lesson_id}.y*ml"))
        if not found:
            return f"write it, or run: jaxtutor pack add {lesson_id}"
        other = found[0].relative_to(self._folder.root).as_posix()
        return f"rename {other}, or list the lesson under the track of its directory"

    def _complain(self, file: str, node: Node | None, message: str, remedy: str) -> None:
        line, column = (node.line, node.column) if node is not None else (1, 1)
        self._problems.append(self._folder.problem(file, message, line, column, remedy))

    def _raise_problems(self) -> None:
        if self._problems:
            raise BadPack(self._problems)


def file_of(track: str, lesson_id: str) -> str:
    """Return the path of a lesson, relative to the pack."""
    return f"{track}/{lesson_id}.yaml"


def recording_of(lesson_id: str) -> str:
    """Return the path of a lesson's recorded answers, relative to the pack."""
    return f"recorded/{lesson_id}.bin"


def _at(node: Node, *path: str | int) -> Node | None:
    """Return the node at a path of keys and indices."""
    current: Node | None = node
    for step in path:
        if isinstance(current, MappingNode) and isinstance(step, str):
            current = current.get(step)
        elif isinstance(current, SequenceNode) and isinstance(step, int):
            current = current.items[step] if step < len(current.items) else None
        else:
            return None
    return current


def _newer(version: str, than: str) -> bool:
    try:
        return tuple(map(int, version.split("."))) > tuple(map(int, than.split(".")))
    except ValueError:
        return False  # reported as an invalid `requires` instead
