"""`jaxtutor pack build | install | list | remove`: distribute and install packs."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.output import print_json
from tutor.cli.pack import add, is_own, recorded_message
from tutor.cli.usage import UsageError

if TYPE_CHECKING:
    from tutor.manifest import Pack
    from tutor.pack.archive import Purpose
    from tutor.pack.installed import Installed, KnownPack

SHOWN = 5
"""Files named in a message; the rest are counted."""


def add_to(commands: Any) -> None:
    """Add these commands to those of `pack`."""
    build = add(commands, "build", _build, "build one file from a pack")
    build.add_argument("folder", metavar="DIR", help="the directory with pack.yaml")
    build.add_argument("-o", "--output", metavar="FILE", help="ID.zip by default")
    build.add_argument("--force", action="store_true", help="replace FILE if it exists")
    purposes = build.add_mutually_exclusive_group()
    for flag, purpose, help_ in (
        ("--without-solutions", "learners", "for learners: without what reveals a solution"),
        ("--grading", "grading", "for graders: with hidden parts and solutions, without variants"),
    ):
        purposes.add_argument(flag, dest="purpose", action="store_const", const=purpose, help=help_)
    build.set_defaults(purpose="everything")
    install = add(commands, "install", _install, "install a pack, or update it")
    what = "a file from `pack build`, a pack's directory, or a package installed by pip"
    install.add_argument("pack", metavar="FILE|DIR|NAME", help=what)
    lister = add(commands, "list", _list, "list the packs whose ids --pack takes")
    lister.add_argument("--json", action="store_true", help="print JSON")
    remove = add(commands, "remove", _remove, "remove a pack; your code is kept")
    remove.add_argument("pack", metavar="ID", help="the pack's id, as `pack list` shows it")


# --- build -----------------------------------------------------------------------------------


def _build(options: argparse.Namespace) -> int:
    from tutor.pack import load_pack
    from tutor.pack.archive import BadArchive, unpack, write_archive
    from tutor.pack.contents import gather, strays
    from tutor.storage.files import write_atomically

    purpose: Purpose = options.purpose
    pack = load_pack(options.folder)
    if is_own(options.folder):
        _record(pack, options.folder)
    try:
        inventory, files = gather(pack, purpose)
        suffix = "" if purpose == "everything" else f"-{purpose}"
        path = Path(options.output or f"{pack.id}{suffix}.zip")
        data = write_archive(inventory, files)
        unpack(data, str(path))  # fails now if it could not be installed later
    except BadArchive as error:
        raise UsageError(f"{error}. Nothing was written") from None
    try:
        if path.exists() and not options.force and path.read_bytes() != data:
            raise UsageError(
                f"{path} exists and differs; choose another name with --output, or replace it with "
                "--force"
            )
        write_atomically(path, data)
    except OSError as error:
        raise UsageError(f"{path} was not written: {error.strerror}") from None
    print(
        f"{path}: {_summarize(len(pack.lessons), _count_solutions(files))}, {len(data) >> 10} KiB"
    )
    if inventory.left_out:
        print(f"Left out: {', '.join(inventory.left_out)}.")
    _print_strays(strays(pack))
    print(f"Install it: jaxtutor pack install {path}")
    return 0


def _record(pack: "Pack", folder: str) -> None:
    """Record PyTorch's answers where they are not recorded yet, so that learners need no PyTorch.
    A lesson for which that fails is packed without them."""
    from tutor.authoring.recording import record
    from tutor.engine.versions import torch_installed
    from tutor.pool.forks import Forks
    from tutor.storage import paths

    written = 0
    with Forks() as forks:
        for lesson in pack.lessons.values():
            done = record(lesson, paths.cache() / "references", forks.reference)
            written += done.written
            if done.problem:
                print(f"{lesson.id}: PyTorch's answers were not recorded: {done.problem}")
                if not torch_installed():
                    break
    if written:
        print(recorded_message(written, folder))


def _count_solutions(files: "dict[str, bytes]") -> int:
    return sum(name.startswith("solutions/") and name.count("/") == 2 for name in files)


def _print_strays(names: list[str]) -> None:
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        print(f"Skipped files that are not part of a pack: {', '.join(names[:SHOWN])}{more}.")


# --- install and remove ----------------------------------------------------------------------


def _install(options: argparse.Namespace) -> int:
    from tutor.pack import BadPack
    from tutor.pack.archive import BadArchive
    from tutor.pack.installed import Refused, folder

    path = Path(options.pack)
    try:
        if path.is_dir():
            done = _install_directory(path)
        elif path.exists():
            done = _install_archive(path)
        else:
            return _validate_pip_pack(options.pack)
    except BadPack as error:
        raise UsageError(f"{error.text}\nNothing was installed") from None
    except (BadArchive, Refused) as error:
        raise UsageError(f"{error}. Nothing was installed") from None
    except OSError as error:
        where = error.filename or folder()
        raise UsageError(f"nothing was installed: {where}: {error.strerror}") from None
    _print_installed(done)
    return 0


def _install_archive(path: Path) -> "Installed":
    from tutor.pack.archive import read_archive
    from tutor.pack.installed import install

    inventory, files = read_archive(path)
    return install(inventory, files, str(path), str(path.resolve()))


def _install_directory(path: Path) -> "Installed":
    from tutor.pack import open_pack
    from tutor.pack.contents import gather, strays
    from tutor.pack.folder import Folder
    from tutor.pack.installed import install

    pack = open_pack(path)
    done = install(*gather(pack), Folder(path).shown("."), str(path.resolve()))
    _print_strays(strays(pack))
    return done


def _validate_pip_pack(name: str) -> int:
    """Validate the packs of a distribution; nothing is copied."""
    from tutor.pack import load_pack
    from tutor.pack.installed import from_pip
    from tutor.plugins import distributed, normalised

    key = normalised(name)
    packs = [one for one in distributed() if key in (one.name, normalised(one.distribution))]
    if not packs:
        raise UsageError(_explain_missing(name))
    for one in packs:
        if one.folder is None:
            raise UsageError(f"{name}: {from_pip(one).problem}")
        pack = load_pack(one.folder)
        if pack.id != one.name:
            raise UsageError(
                f"{one.distribution} names its pack {one.name!r}, but the pack's id is "
                f"{pack.id!r}; ask its author to rename the entry point"
            )
        print(f"{from_pip(one).source} provides the pack {pack.id}; nothing to install.")
        print(f"Start it: jaxtutor --pack {pack.id}")
    return 0


def _explain_missing(name: str) -> str:
    import re

    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name) or name.endswith(".zip"):
        return f"{name}: no such file or directory"
    return (
        f"{name}: no such file or directory, and no pack that pip installed has this name. If you "
        f"trust it, run: {Path(sys.executable).name} -m pip install {name}\n"
        "jaxtutor does not run pip for you, because packages can run code when installed"
    )


def _remove(options: argparse.Namespace) -> int:
    from tutor.pack.installed import Refused, known, remove
    from tutor.storage import paths
    from tutor.suggestions import nearest

    name: str = options.pack
    try:
        remove(name)
    except Refused as error:
        packs = {one.id: one for one in known()}
        hint = nearest(name, packs) or ". See `jaxtutor pack list`"
        if name in packs and (distribution := packs[name].distribution):
            python = Path(sys.executable).name
            hint = f"; pip installed it, so run: {python} -m pip uninstall {distribution}"
        elif name in packs:
            hint = "; it is the built-in course"
        raise UsageError(f"{error}{hint}") from None
    except OSError as error:
        raise UsageError(f"{name} was not removed: {error.filename}: {error.strerror}") from None
    print(f"Removed {name}. Your progress is kept, and your code in {paths.workspace() / name}.")
    return 0


def _print_installed(done: "Installed") -> None:
    pack = done.pack
    edition = f" {pack.manifest.version}" if pack.manifest.version else ""
    summary = _summarize(len(pack.lessons), done.solutions)
    print(f'Installed {pack.id}{edition}, "{pack.manifest.title}": {summary}.')
    if done.before is not None:
        print(f"Kept the previous edition; to go back: jaxtutor pack install {done.before}")
    print(f"Start it: jaxtutor --pack {pack.id}")


def _summarize(lessons: int, solutions: int) -> str:
    noun = "lesson" if lessons == 1 else "lessons"
    if solutions in (0, lessons):
        return f"{lessons} {noun}, {'with' if solutions else 'without'} solutions"
    return f"{lessons} {noun}, {solutions} with a solution"


# --- list ------------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    from tutor.foreign.plain_text import one_line
    from tutor.pack.installed import known

    rows = [_describe(one) for one in known()]
    if options.json:
        import msgspec

        print_json(msgspec.json.encode({"packs": rows}))
        return 0
    width = max(len(row["id"]) for row in rows)
    for row in rows:
        print(f"{one_line(row['id']):<{width}}  {one_line(row['title'])}".rstrip())
        about = row["problem"] or _summarize(row["lessons"], row["solutions"])
        edition = f"{row['version']}, " if row["version"] else ""
        print(f"{'':<{width}}  " + one_line(f"{edition}{about}; {row['source']}"))
    return 0


def _describe(one: "KnownPack") -> dict[str, Any]:
    from tutor.pack import BadPack, open_pack
    from tutor.pack.contents import solved

    row = {"id": one.id, "title": "", "version": "", "source": one.source, "lessons": 0,
           "solutions": 0, "folder": str(one.root or ""), "problem": ""}  # fmt: skip
    if one.root is None:
        return row | {"problem": one.problem}
    try:
        pack = open_pack(one.root)
    except BadPack as error:
        return row | {"problem": f"cannot be used: {error.problems[0]}"}
    manifest = pack.manifest
    return row | {
        "title": manifest.title,
        "version": manifest.version,
        "lessons": len(pack.lessons),
        "solutions": solved(pack),
    }
