"""`jaxtutor grade --gradescope-bundle`: the zip from which Gradescope builds an autograder."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.cli.usage import UsageError

if TYPE_CHECKING:
    from tutor.manifest import Pack


def write_bundle(options: argparse.Namespace, pack: "Pack", lessons: Sequence[str]) -> int:
    """Write the zip for these lessons; return the exit code."""
    from tutor.grading.outputs.gradescope_bundle import build_bundle
    from tutor.pack import BadPack
    from tutor.storage.files import write_atomically

    path = Path(options.gradescope_bundle)
    if options.submissions is not None:
        raise UsageError("--gradescope-bundle takes no SUBMISSIONS: Gradescope has them")
    arguments = ["--lesson", *lessons, "--isolation", options.isolation]
    if options.repeat is not None:
        arguments += ["--repeat", str(options.repeat)]
    try:
        data = build_bundle(pack, arguments, lessons)
        if path.exists() and path.read_bytes() != data:
            raise UsageError(f"{path} exists and differs; choose another name")
        write_atomically(path, data)
    except BadPack as error:
        raise UsageError(error.text) from None
    except OSError as error:
        raise UsageError(f"{path} was not written: {error.strerror}") from None
    print(f"{path}: {', '.join(lessons)} of {pack.id}, {len(data) >> 10} KiB")
    print("Upload it on Gradescope: Configure Autograder, Zip file upload.")
    return 0
