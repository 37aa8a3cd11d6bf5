"""Choosing the files of a built pack, by its purpose.

================  ==============================================================================
``everything``    the pack as it is: lessons, solutions, variants
``learners``      no solutions or variants, and nothing derived from them: no `mistakes` and
                  `equivalent`, which quote the solution, and no comments, which might; but the
                  starters that are made from marked solutions, written into the lessons
``grading``       unchanged lessons, and solutions, so that `pack test` can show that they pass on
                  the grading machine; no variants, which are for authors
================  ==============================================================================

All three contain checks, `harness`, hints, data files and the texts that lessons share, without
which nothing can be checked; anyone with the file can read them.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from tutor.checks.predict import only_asks
from tutor.manifest import Pack, solution_folders
from tutor.pack.archive import INVENTORY, Files, Inventory, Purpose, checksums
from tutor.pack.data_folder import data_file
from tutor.pack.folder import MANIFEST, Folder
from tutor.pack.made_starter import made_starter
from tutor.pack.member_names import clash_in, fault_of
from tutor.pack.pack_reader import recording_of
from tutor.pack.problems import BadPack, BadSource, Problem
from tutor.pack.shared_texts import file_of_text, text_names
from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import LOADER, parse

REVEALING = ("mistakes", "equivalent")
"""Fields of a lesson that quote its solution."""

LEFT_OUT: dict[Purpose, tuple[str, ...]] = {
    "everything": (),
    "learners": ("solutions", "variants", *REVEALING, "comments"),
    "grading": ("variants",),
}

_NOTHING: Mapping[str, str] = MappingProxyType({})

_BESIDE = ("README", "LICENSE", "LICENCE", "COPYING", "NOTICE")
_FOR_AUTHORS = frozenset({"schema", "proofs.json"})
"""Files in a pack that only authors need: see `tutor.authoring`."""

_ENDINGS = ("", ".md", ".txt", ".rst")


class PackedFile(NamedTuple):
    """A file to pack: `file` in the directory `base`, as the member `name`."""

    base: Path
    file: str
    name: str


def gather(pack: Pack, purpose: Purpose = "everything") -> tuple[Inventory, Files]:
    """Return the inventory and the files of a pack.

    Raises:
        BadPack: a file cannot be read, or its name is not portable.
    """
    sources = list(_sources(pack, purpose))
    _refuse_names(sources)
    files: Files = {}
    for base, file, name in sources:
        try:
            data = Folder(base).read(file)
            if purpose == "learners" and name.endswith(".yaml"):
                data = without(REVEALING, data, _made_starter(pack, name))
        except BadSource as error:
            raise BadPack([error.problem]) from None
        files[name] = data
    manifest = pack.manifest
    inventory = Inventory(
        id=manifest.id,
        title=manifest.title,
        version=manifest.version,
        purpose=purpose,
        left_out=LEFT_OUT[purpose],
        files=checksums(files),
    )
    return inventory, files


def solved(pack: Pack) -> int:
    """Return the number of lessons with a solution."""
    folders = solution_folders(pack.root)
    return sum(
        any((base / track.id / f"{lesson}.py").is_file() for base in folders)
        for track in pack.manifest.tracks
        for lesson in track.lessons
    )


def strays(pack: Pack) -> list[str]:
    """Return files in the pack's directory that are not part of it, except hidden files, schemas
    for editors, and proofs."""
    root = pack.root
    known = {source.base / source.file for source in _sources(pack, "everything")}
    known.add(root / INVENTORY)
    files = (path for path in sorted(root.rglob("*")) if path not in known and not path.is_dir())
    names = [path.relative_to(root) for path in files]
    return [
        name.as_posix()
        for name in names
        if name.parts[0] not in _FOR_AUTHORS
        and not any(part.startswith(".") for part in name.parts)
    ]


def unpackable(pack: Pack) -> Iterator[Problem]:
    """Yield what keeps files of a pack, other than those that its reader reads, from being packed:
    the names of variants, and files that are too large or outside it."""
    # A lesson may be listed twice.
    sources = [*dict.fromkeys(_sources(pack, "everything"))]
    yield from _bad_names([one for one in sources if one.name.count("/") == 3])
    for source in sources:
        if source.name.endswith((".py", ".bin")) or source.name.partition(".")[0] in _BESIDE:
            try:
                Folder(source.base).read(source.file)
            except BadSource as error:
                yield error.problem


def _refuse_names(sources: list[PackedFile]) -> None:
    if problems := _bad_names(sources):
        raise BadPack(problems)


def _bad_names(sources: list[PackedFile]) -> list[Problem]:
    faults = [(source.name, fault) for source in sources if (fault := fault_of(source.name))]
    if not faults and (clash := clash_in(source.name for source in sources)):
        faults = [clash]
    shown = {source.name: Folder(source.base).shown(source.file) for source in sources}
    return [Problem(shown[name], 1, 1, fault, "rename it") for name, fault in faults]


def _made_starter(pack: Pack, file: str) -> dict[str, str]:
    """Return the field of a lesson's file that learners lack if the pack has no solutions."""
    track, _, lesson_id = file.removesuffix(".yaml").partition("/")
    if lesson_id not in pack.lessons or only_asks(pack.lesson(lesson_id)):
        return {}
    if "starter" in _plain(Folder(pack.root).read(file)):
        return {}
    starter = made_starter(pack.root, track, lesson_id)
    return {"starter": starter} if starter is not None else {}


def without(fields: Collection[str], data: bytes, added: Mapping[str, str] = _NOTHING) -> bytes:
    """Return a valid YAML file of a pack without some top-level fields, without comments, and with
    texts `added` at its end."""
    expected = {name: value for name, value in _plain(data).items() if name not in fields}
    root = yaml.compose(data.decode("utf-8-sig"), Loader=LOADER)
    assert isinstance(root, yaml.MappingNode), "the pack has been validated"
    root.value = [(key, node) for key, node in root.value if key.value not in fields]
    tag = "tag:yaml.org,2002:str"
    root.value += [
        (yaml.ScalarNode(tag, name), yaml.ScalarNode(tag, text, style="|"))
        for name, text in added.items()
    ]
    text: str = yaml.serialize(root, allow_unicode=True, width=1 << 20)
    left = text.encode()
    if _plain(left) != {**expected, **added}:
        raise RuntimeError("a rewritten file of the pack has different contents")
    return left


def _plain(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = plain(parse(data, "")[0])
    return found


def _sources(pack: Pack, purpose: Purpose) -> Iterator[PackedFile]:
    root = pack.root
    yield PackedFile(root, MANIFEST, MANIFEST)
    for path in sorted(root.glob("*")):
        if path.stem in _BESIDE and path.suffix in _ENDINGS and path.is_file():
            yield PackedFile(root, path.name, path.name)
    for name in text_names(root):
        yield PackedFile(root, file := file_of_text(name), file)
    for name in _data_files(pack):
        yield PackedFile(root, file := data_file(name), file)
    for track in pack.manifest.tracks:
        for lesson in track.lessons:
            yield PackedFile(root, file := f"{track.id}/{lesson}.yaml", file)
            if (root / (recording := recording_of(lesson))).is_file():
                yield PackedFile(root, recording, recording)
            if purpose != "learners":
                yield from _answers(root, f"{track.id}/{lesson}", purpose == "everything")


def _data_files(pack: Pack) -> list[str]:
    """Return the data files that lessons name. Who unpacks the files reads the lessons again, and
    reports those with problems."""
    found: set[str] = set()
    for lesson in pack.lessons:
        with suppress(BadPack):
            found.update(one.file for one in pack.lesson(lesson).data.values())
    return sorted(found)


def _answers(root: Path, lesson: str, variants: bool) -> Iterator[PackedFile]:
    """Yield the solution and, if `variants`, its variants."""
    folders = solution_folders(root)
    for base in [base for base in folders if (base / f"{lesson}.py").is_file()][:1]:
        yield PackedFile(base, f"{lesson}.py", f"solutions/{lesson}.py")
    for base in folders if variants else ():
        for path in sorted((base / lesson).glob("*.py")):
            yield PackedFile(base, f"{lesson}/{path.name}", f"solutions/{lesson}/{path.name}")
