"""An audit hook (PEP 578) that notices a submission looking at the interpreter: at the call stack,
at code, at all objects, at memory.

Libraries do the same all the time: `dataclasses` and JAX read frames and code. Two rules decide
whose look it is. It belongs to the nearest frame whose code names what is read (`_getframe` is
among its names), because a function that does not only calls what it was given. And a few functions
of the standard library look on behalf of their caller, such as `traceback.extract_stack`.

A submission can reach everything in its process, but it has to look first. So the hook uses nothing
but what it closes over, no global and no builtin, and a notice is sent at once: code that has
looked cannot take back that it did.
"""

import ctypes
import inspect
import logging
import os
import sys
import sysconfig
import traceback
import typing
from _thread import LockType, get_ident
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeAlias

from tutor.report import LookKind
from tutor.sandbox.calls import perform
from tutor.sandbox.environment import EXPRESSION
from tutor.sandbox.packages import FOLDERS
from tutor.sandbox.protocol import HARNESS, MAX_NOTICES, Noticed
from tutor.sandbox.wire import encode

_RUNNERS = ("exec", "eval", "compile")  # each of the first two also causes the last one's event

_CALLS: dict[str, tuple[LookKind, tuple[str, ...]]] = {
    "sys._getframe": ("stack", ("_getframe",)),
    "sys._getframemodulename": ("stack", ("_getframemodulename",)),
    "sys._current_frames": ("stack", ("_current_frames",)),
    "sys._current_exceptions": ("stack", ("_current_exceptions",)),
    "gc.get_objects": ("objects", ("get_objects",)),
    "gc.get_referrers": ("objects", ("get_referrers",)),
    "gc.get_referents": ("objects", ("get_referents",)),
    "code.__new__": ("code", ("CodeType", "replace")),
    "compile": ("text", _RUNNERS),
    "exec": ("text", _RUNNERS),
}
"""Events of calls, and names of the functions that cause them."""

_ATTRIBUTES: dict[str, LookKind] = {
    **dict.fromkeys(("tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_code"), "stack"),
    "__code__": "code",
}
"""Attributes that cause an event when they are read."""

_TRACING = ("sys.settrace", "sys.setprofile", "sys.monitoring.register_callback")
"""Events that no library causes here, whoever seems to: `threading.settrace` takes effect in a
frame of `threading`."""

_MEMORY = (
    *("addressof", "call_function", "cdata", "cdata/buffer", "dlopen", "dlsym", "dlsym/handle"),
    *("PyObj_FromPtr", "string_at", "wstring_at"),
)
"""Events of `ctypes`."""

_Look: TypeAlias = tuple[LookKind, tuple[str, ...] | None, bytes]
"""The kind of a look, the names that cause it, and the notice. None for names: it belongs to the
nearest frame; no names: to the nearest of the submission, or to an unknown line."""

_LINE = 999_999_999
"""Stands in an encoded notice where the line comes, in as many characters."""


def watch(replies: int, free: LockType) -> list[bytes]:
    """Notice looks from now on, each kind once per line.

    **Arguments:** `replies`: the descriptor to send notices to; `free`: a lock that is held while
    something else is written to it.

    **Returns:** notices that came meanwhile, to be sent before the next reply.
    """
    events: dict[str, _Look] = {}
    for event, (kind, names) in _CALLS.items():
        events[event] = kind, names, _notice(kind, event)
    for event in (*_TRACING, "sys.addaudithook"):
        events[event] = "tracing", (), _notice("tracing", event)
    for event in _MEMORY:
        events[f"ctypes.{event}"] = "memory", None, _notice("memory", "ctypes")
    attributes: dict[str, _Look] = {
        name: (kind, (name,), _notice(kind, name)) for name, kind in _ATTRIBUTES.items()
    }

    libraries, known = tuple(_libraries()), dict[str, bool]()
    lenders, lending = frozenset(_lenders()), frozenset(_lending_files())
    inside, sent, waiting = set[int](), set[tuple[LookKind, int]](), list[bytes]()
    left, stand_in = MAX_NOTICES, b"%d" % _LINE
    ours = perform.__code__  # below it, nothing is the submission's
    getframe, this_thread, write = sys._getframe, get_ident, os.write

    def is_library(file: str) -> bool:
        found = known.get(file)
        if found is None:
            found = known[file] = file.startswith(libraries)
        return found

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event == "object.__getattr__" or event == "object.__setattr__":
            look = attributes.get(arguments[1])
        else:
            look = events.get(event)
        if look is None or left == 0:
            return
        thread = this_thread()
        if thread in inside:  # what the hook itself reads
            return
        inside.add(thread)
        try:
            kind, names, notice = look
            frame: FrameType | None = getframe(1)
            lent = names is None
            while frame is not None and (
                frame.f_code in lenders or frame.f_code.co_filename in lending
            ):
                frame, lent = frame.f_back, True
            while frame is not None and is_library(frame.f_code.co_filename):
                if lent or names is None or frame.f_code is ours:
                    return
                for name in names:
                    if name in frame.f_code.co_names or name in frame.f_code.co_consts:
                        return
                frame = frame.f_back
            if frame is None and names != ():
                return
            # Code that was made from text has no line in the file; its caller has.
            while frame is not None and (
                frame.f_code.co_filename.startswith("<") or is_library(frame.f_code.co_filename)
            ):
                frame = frame.f_back
            line = frame.f_lineno if frame is not None else 0
            if (kind, line) in sent:
                return
            sent.add((kind, line))
            left -= 1
            notice = notice.replace(stand_in, b"%9d" % line)
            if free.acquire(False):
                try:
                    write(replies, notice)
                finally:
                    free.release()
            else:
                waiting.append(notice)
        finally:
            inside.discard(thread)

    sys.addaudithook(hook)
    return waiting


def _notice(kind: LookKind, name: str) -> bytes:
    return encode(Noticed(kind, name, _LINE))


def _libraries() -> Iterator[str]:
    """Yield how the names of files begin that are not the submission's."""
    ours = Path(__file__).parents[1]
    yield from ("<frozen ", EXPRESSION, HARNESS, f"{ours}{os.sep}", *FOLDERS.values())
    paths = {*sysconfig.get_paths().values(), *sys.path} - {str(ours.parent)}
    # Unless it is `site-packages`, this package may be installed where the private directory is.
    if ours.parent.name.endswith("-packages"):
        paths.add(str(ours.parent))
    yield from (f"{path}{os.sep}" for path in paths if Path(path).is_absolute())


def _lending_files() -> Iterator[str]:
    """Yield the files in which all functions look on behalf of their caller."""
    yield from (inspect.__file__, ctypes.__file__)
    yield str(Path(inspect.__file__).with_name("asyncio") / "format_helpers.py")


def _lenders() -> Iterator[CodeType]:
    """Yield the code of other functions that do."""
    for name in ("extract_stack", "format_stack", "print_stack", "walk_stack", "walk_tb"):
        yield getattr(traceback, name).__code__
    yield logging.currentframe.__code__
    yield logging.Logger.findCaller.__code__
    yield typing._caller.__code__  # type: ignore[attr-defined]
