"""The zip that Gradescope makes an autograder of.

    setup.sh             installs jaxtutor where the image has none
    run_autograder       grades one submission
    requirements.txt     which jaxtutor
    options              the lessons, and how: an argument to `jaxtutor grade` in each line
    nothing.json         what students are told who handed in nothing for any lesson
    pack/                the pack, as for graders: with its solutions, without variants

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


def bundle(pack: Pack, options: Sequence[str], lessons: Sequence[str]) -> bytes:
    """The zip.

    **Arguments:** `options`: those of `jaxtutor grade`, without submissions, pack and outputs;
    `lessons`: what students are told to hand in.

    Raises:
        tutor.pack.BadPack: a file of the pack cannot be read.
    """
    _, files = gather(pack, "grading")
    contents = {name: (_FOLDER / name).read_bytes() for name in _SCRIPTS}
    contents |= {
        "requirements.txt": f"jaxtutor=={__version__}\n".encode(),
        "options": "".join(f"{option}\n" for option in options).encode(),
        "nothing.json": _nothing(lessons),
        **{f"pack/{name}": data for name, data in files.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in sorted(contents.items()):
            info = zipfile.ZipInfo(name)  # of 1980
            info.create_system = 3  # or the scripts may not be run
            mode = 0o755 if name in _SCRIPTS else 0o644
            info.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def _nothing(lessons: Sequence[str]) -> bytes:
    files = ", ".join(f"{lesson}.py" for lesson in lessons)
    told = f"Nothing that you handed in is called like a lesson. Hand in a file for each: {files}"
    return msgspec.json.encode({"score": 0.0, "output": told, "output_format": "text"}) + b"\n"
