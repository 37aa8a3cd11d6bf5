"""The command `jaxtutor`: parse, run one command, report what went wrong.

`parser.py` lists the commands. Nothing heavy is imported before a command needs it, and no command
imports JAX or PyTorch into this process.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from tutor.cli.output import INTERNAL, NOT_PASSED, REPORT_BUG, USAGE, print_error, print_notices
from tutor.cli.parser import build_parser
from tutor.cli.stopping import exit_code_of, stopping
from tutor.cli.usage import UsageError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    # The arrays of lessons are small: OpenBLAS's threads would only spin between products.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    options = build_parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show ✓ shows ?
    if options.logged or options.verbose:
        _open_log(options)
    code = _run(options)
    if log := sys.modules.get("tutor.storage.log"):
        log.close_log(code)
    return code


def _run(options: argparse.Namespace) -> int:
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        with stopping():
            code = command(options)
        _print_cache_notices()
        sys.stdout.flush()  # fails now, if at all
        return code
    except UsageError as error:
        return _report_usage(str(error))
    except KeyboardInterrupt as interrupt:
        print_error()
        return exit_code_of(interrupt)
    except BrokenPipeError:
        _discard_output()
        return NOT_PASSED
    except Exception as error:  # noqa: BLE001 - users see a message, the log has the traceback
        from tutor.pack import BadPack

        if isinstance(error, BadPack):
            return _report_usage(error.text)
        return _report_internal_error(error, options)


def _report_usage(message: str) -> int:
    from tutor.foreign.plain_text import inert

    print_error(f"jaxtutor: {inert(message)}")  # it may quote a file name or a student's
    return USAGE


def _discard_output() -> None:
    """Send what is still to be written to a closed pipe nowhere, or Python would report the pipe
    once more at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # not a file, or closed
            stream.flush()
            continue
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())


def _open_log(options: argparse.Namespace) -> None:
    from tutor.storage.log import open_log

    command, given = options.invocation
    values = vars(options)
    lessons = values.get("lessons") or values.get("lesson") or []
    lessons = [lessons] if isinstance(lessons, str) else lessons
    open_log(command, given, lessons, verbose=options.verbose)


def _print_cache_notices() -> None:
    cache = sys.modules.get("tutor.storage.cache")  # imported by now if anything was to be cached
    print_notices(cache.notices if cache is not None else ())


def _report_internal_error(error: Exception, options: argparse.Namespace) -> int:
    import logging

    from tutor.storage.log import log_file

    _open_log(options)
    logging.getLogger(__name__).error("internal error", exc_info=error)
    print_error(f"jaxtutor: internal error: {type(error).__name__}: {error}\n"
                f"The traceback is in {log_file()}. {REPORT_BUG}")  # fmt: skip
    return INTERNAL
