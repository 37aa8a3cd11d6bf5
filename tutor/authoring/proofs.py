"""`proofs.json`: when each lesson of a pack last passed the full `pack test`, and with what result.

A proof is current while the lesson's fingerprint is the same, so CI need not run `pack test` again.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from msgspec import Struct

from tutor.engine.versions import installed_versions
from tutor.manifest import Pack, solution_folders
from tutor.pack.data_folder import data_file
from tutor.pack.folder import Folder
from tutor.pack.pack_reader import file_of
from tutor.pack.problems import BadSource
from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import parse
from tutor.storage.files import write_atomically

if TYPE_CHECKING:
    from tutor.authoring.pack_test import LessonResult, TrialOptions

FILE = "proofs.json"
SEEDS = 20
"""Fewer seeds are not a proof."""

PROSE = frozenset(
    {"title", "minutes", "needs", "sources", "brief", "hints", "failure_hints", "after_pass"}
)
"""Fields of a lesson that no trial depends on: correcting a typo does not make a proof stale. The
names of mistakes are left out, too."""

State: TypeAlias = Literal["current", "stale", "unproven"]


class Proof(Struct, frozen=True, kw_only=True):
    """One lesson's entry. `mutants` counts wrong ones only, as `Strength.wrong` does."""

    date: str
    fingerprint: str
    killed: int
    mistakes: int
    mutants: int
    rate: float
    seeds: int
    variants: int
    versions: dict[str, str]


def is_full(options: "TrialOptions") -> bool:
    """Return whether a lesson that holds under these options is proved."""
    return options.seeds >= SEEDS and options.mutate and options.variants


def fingerprint(pack: Pack, lesson_id: str) -> str:
    """Return a hash of everything of a lesson that `pack test` tries. It is the same on every
    machine and in every version of jaxtutor."""
    digest = sha256()
    for part in _parts(pack, lesson_id):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.hexdigest()


def _parts(pack: Pack, lesson_id: str) -> Iterator[bytes]:
    lesson = pack.lesson(lesson_id)
    node, _ = parse(Folder(pack.root).read(file_of(lesson.track, lesson_id)), "")
    fields = {key: value for key, value in plain(node).items() if key not in PROSE}
    for mistake in fields.get("mistakes", ()):
        mistake.pop("name", None)
    yield msgspec.json.encode(fields, order="deterministic")
    for file in lesson.data.values():
        data = Folder(pack.root).read(data_file(file.file))
        yield data.replace(b"\r\n", b"\n") if file.file.endswith(".csv") else data
    folders = [base / lesson.track for base in solution_folders(pack.root)]
    solution = [base / f"{lesson_id}.py" for base in folders]
    for path in [*[path for path in solution if path.is_file()][:1], *pack.variants(lesson_id)]:
        yield path.name.encode()
        yield path.read_bytes().replace(b"\r\n", b"\n")  # as Git may write it on Windows


def read_proofs(root: Path) -> dict[str, Proof]:
    """Return a pack's proofs by lesson, empty if it has none.

    Raises:
        BadSource: the file cannot be read.
    """
    try:
        return msgspec.json.decode((root / FILE).read_bytes(), type=dict[str, Proof])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        remedy = f"delete it, then run: {command(root)}"
        problem = Folder(root).problem(FILE, f"cannot be read: {why}", remedy=remedy)
        raise BadSource(problem) from None


def state(pack: Pack, lesson_id: str, proofs: Mapping[str, Proof]) -> State:
    """Return whether a lesson's proof still applies."""
    proof = proofs.get(lesson_id)
    if proof is None:
        return "unproven"
    return "current" if proof.fingerprint == fingerprint(pack, lesson_id) else "stale"


def unproven(pack: Pack, lessons: Collection[str], proofs: Mapping[str, Proof]) -> list[str]:
    """Return the lessons without a current proof under the versions that are installed now."""
    versions = installed_versions()
    return [
        name
        for name in lessons
        if state(pack, name, proofs) != "current" or proofs[name].versions != versions
    ]


def command(root: Path, lesson_id: str | None = None) -> str:
    """Return the command that proves a lesson, or all that have no current proof."""
    words = ["jaxtutor pack test", Folder(root).shown("."), lesson_id or "--unproven"]
    return f"{' '.join(words)} --seeds {SEEDS} --mutate --variants"


def record(
    pack: Pack, result: "LessonResult", options: "TrialOptions", fingerprint_before: str
) -> None:
    """Add the proof of a lesson that holds to the pack's file, and drop those of lessons that the
    pack no longer has.

    **Arguments:** `fingerprint_before`: from before the trials, in case of an edit meanwhile.

    Raises:
        BadSource: the file cannot be read.
        OSError: it cannot be written.
    """
    assert result.holds and result.strength is not None
    kinds = [outcome.kind for outcome in result.outcomes]
    proof = Proof(
        date=datetime.now(UTC).date().isoformat(),
        fingerprint=fingerprint_before,
        killed=result.strength.killed,
        mistakes=kinds.count("mistake"),
        mutants=result.strength.wrong,
        rate=round(result.strength.rate, 4),
        seeds=options.seeds,
        variants=kinds.count("variant"),
        versions=installed_versions(),
    )
    # Read again for each lesson: another process may be proving other lessons of this pack.
    proofs = read_proofs(pack.root) | {result.lesson: proof}
    kept = {name: proofs[name] for name in proofs if name in pack.lessons}
    text = msgspec.json.format(msgspec.json.encode(kept, order="sorted"), indent=2)
    write_atomically(pack.root / FILE, text + b"\n")
