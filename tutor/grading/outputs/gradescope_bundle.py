"""The zip that Gradescope builds an autograder from.

    setup.sh             installs jaxtutor if the image lacks it
    run_autograder       grades one submission
    requirements.txt     the version of jaxtutor, and what the lessons require
    options              the arguments of `jaxtutor grade`, one per line
    nothing.json         the result for a submission without any of the lessons
    pack/                the pack for graders: with solutions, without variants

The same pack gives the same bytes.
"""

import io
import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tutor import __version__
from tutor.manifest import Pack
from tutor.pack.contents import gather

_FOLDER = Path(__file__).parent / "autograder"
_SCRIPTS = ("setup.sh", "run_autograder")


def build_bundle(pack: Pack, options: Sequence[str], lessons: Sequence[str]) -> bytes:
    """Return the zip.

    **Arguments:** `options`: those of `jaxtutor grade`, without submissions, pack and outputs;
    `lessons`: the ones that students are asked to hand in.

    Raises:
        tutor.pack.BadPack: a file of the pack cannot be read.
    """
    _, files = gather(pack, "grading")
    required = (one for lesson in lessons for one in pack.lesson(lesson).requires)
    needed = dict.fromkeys([f"jaxtutor=={__version__}", *required])
    contents = {name: (_FOLDER / name).read_bytes() for name in _SCRIPTS}
    contents |= {
        "requirements.txt": "".join(f"{one}\n" for one in needed).encode(),
        "options": "".join(f"{option}\n" for option in options).encode(),
        "nothing.json": _nothing_handed_in(lessons),
        **{f"pack/{name}": data for name, data in files.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in sorted(contents.items()):
            info = zipfile.ZipInfo(name)  # dated 1980
            info.create_system = 3  # Unix, or the mode is ignored
            mode = 0o755 if name in _SCRIPTS else 0o644
            info.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def _nothing_handed_in(lessons: Sequence[str]) -> bytes:
    files = ", ".join(f"{lesson}.py" for lesson in lessons)
    output = f"No file is named after a lesson. Hand in one file per lesson: {files}"
    return msgspec.json.encode({"score": 0.0, "output": output, "output_format": "text"}) + b"\n"
