"""`jaxtutor doctor`: print what `tutor.cli.diagnosis` finds, or write it to a bug report."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.output import NOT_PASSED, PASSED, print_json
from tutor.cli.usage import Parser, UsageError

if TYPE_CHECKING:
    from tutor.cli.diagnosis import Diagnosis

REPORT = "jaxtutor-report.md"


def add_to(commands: Any) -> None:
    sub: Parser = commands.add_parser(
        "doctor", help="check that this machine can run lessons",
        description="Check that this machine can run lessons, and say how to fix what is wrong.",
        epilog="Exit codes: 0 all is well, 1 something needs fixing.",
    )  # fmt: skip
    sub.set_defaults(command=run_doctor)
    output = sub.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON")
    output.add_argument(
        "--report", nargs="?", const=REPORT, metavar="FILE",
        help=f"write a report to attach to an issue (to {REPORT} by default); an existing file is "
        "kept, and the report gets another name",
    )  # fmt: skip


def run_doctor(options: argparse.Namespace) -> int:
    from tutor.cli.diagnosis import examine

    diagnosis = examine()
    if options.json:
        print_json(diagnosis.to_json())
    elif options.report is not None:
        _write_report(diagnosis, Path(options.report))
    else:
        _print(diagnosis)
    return PASSED if diagnosis.ok else NOT_PASSED


def _print(diagnosis: "Diagnosis") -> None:
    for one in diagnosis.findings:
        print(f"{'!' if one.warning else '✓' if one.ok else '✗'} {one.name}: {one.detail}")
        if one.warning or not one.ok:
            print(f"    {one.advice}")
    print(f"Devices: {diagnosis.devices}")
    print("Sandbox layers:")
    for layer in diagnosis.protections:
        detail = f": {layer.detail}" if layer.detail else ""
        print(f"  {'✓' if layer.active else '·'} {layer.name}{detail}")
    print("All is well." if diagnosis.ok else "Something needs fixing; see ✗ above.")


def _write_report(diagnosis: "Diagnosis", path: Path) -> None:
    from tutor.cli.bug_report import bug_report
    from tutor.storage.files import free_name, write_atomically

    path = free_name(path)
    try:
        write_atomically(path, bug_report(diagnosis).encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"{path} was not written: {error.strerror}") from None
    print(f"Wrote {path}. Read it, then attach it to your issue.")
