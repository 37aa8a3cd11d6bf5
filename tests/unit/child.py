"""A process of its own, for what cannot be taken back: other users, limits, folders to be in."""

import os
import sys
from collections.abc import Callable


def in_a_child(work: Callable[[], None]) -> None:
    """Do it there, and fail where it fails."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:  # noqa: BLE001 - told by the parent
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
