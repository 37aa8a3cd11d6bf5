"""The position of stopped code, read from the stacks that `faulthandler` writes."""

import os
import sys
import threading
import time

import pytest

from tests.cases import for_each
from tutor.report import Frame
from tutor.sandbox.stacks import MAX_BYTES, Position, position, read, split

SOURCE = "import jax\n\ndef helper(x):\n    return step(x)\n\ndef step(x):\n    while True: pass\n"
JAX = '  File "/usr/lib/python3/site-packages/jax/_src'
BELOW = """  File "<check>", line 1 in <module>
  File "/usr/lib/python3/site-packages/tutor/sandbox/environment.py", line 85 in evaluate
  File "/usr/lib/python3/site-packages/tutor/sandbox/calls.py", line 66 in drive
  File "/usr/lib/python3/site-packages/tutor/sandbox/worker.py", line 60 in work
"""
OWN = '  File "double.py", line 7 in step\n  File "double.py", line 4 in helper\n'
FRAMES = (Frame(4, "helper", "return step(x)"), Frame(7, "step", "while True: pass"))
HEAD = "Current thread 0x00007f1f7da89b80 (most recent call first):\n"
OTHER = "Thread 0x00007f1f7da89b81 (most recent call first):\n"


def found(text: str, filename: str = "double.py") -> Position:
    threads, rest = split(text.encode())
    assert not rest
    return position(threads, filename, SOURCE)


def test_frames_of_the_module_are_found_innermost_last():
    assert found(HEAD + OWN + BELOW) == Position(FRAMES)


@for_each(
    ("above", "doing"),
    [
        ('/compiler.py", line 353 in backend_compile_and_load\n', "compiling"),
        ('/interpreters/mlir.py", line 2269 in _emit_cached_call\n', "compiling"),
        ('/interpreters/pxla.py", line 395 in __call__\n', "program"),
        ('/api.py", line 2492 in try_to_block\n', "program"),
        ('/array.py", line 600 in _value\n', "program"),
        ('/interpreters/pxla.py", line 1239 in compile\n', ""),
        ('/core.py", line 713 in bind_with_trace\n', ""),
    ],
)
def test_the_activity_of_jax_is_named(above: str, doing: str):
    text = f'{HEAD}{JAX}{above}{JAX}/pjit.py", line 259 in cache_miss\n'
    assert found(text + OWN + BELOW) == Position(FRAMES, doing)
    # A compiled function has no Python frame.
    assert found(text + BELOW) == Position((), doing)


def test_frames_below_the_module_are_ignored():
    """The lines are being traced; the program is not compiled yet."""
    text = f'{HEAD}{OWN}{JAX}/compiler.py", line 353 in backend_compile_and_load\n{BELOW}'
    assert found(text) == Position(FRAMES)


def test_the_thread_that_answers_requests_is_preferred():
    noise = f'{OTHER}  File "/usr/lib/python3/threading.py", line 320 in wait\n\n'
    elsewhere = f'{OTHER}  File "double.py", line 1 in <module>\n\n'
    assert found(noise + elsewhere + HEAD + OWN + BELOW) == Position(FRAMES)


def test_code_in_another_thread_is_found():
    """A callback, which XLA runs on its own thread."""
    callback = f'{OTHER}{OWN}{JAX}/callback.py", line 71 in __call__\n\n'
    assert found(callback + HEAD + BELOW) == Position(FRAMES)


def test_frames_of_other_modules_are_ignored():
    assert found(HEAD + OWN + BELOW, "other.py") == Position()


def test_no_stacks_give_no_position():
    assert position([], "double.py", SOURCE) == Position()
    assert position([[]], "", "") == Position()


def test_output_is_separated_from_stacks():
    text = f"before\n{HEAD}{OWN}printed meanwhile\n{BELOW}\n{OTHER}  <no Python frame>\n...\nafter"
    threads, rest = split(text.encode())
    assert rest == b"before\nprinted meanwhile\nafter"
    assert position(threads, "double.py", SOURCE) == Position(FRAMES)


def test_text_without_stacks_is_unchanged():
    text = b'  File "double.py", line 7 in step\n\n  ...\n\xff\n'
    assert split(text) == ([], text)


def test_a_fake_stack_is_bounded_and_harmless():
    lines = "".join(f'  File "double.py", line {n} in \x1b[2J{"f" * 999}\n' for n in range(3000))
    frames = found(HEAD + lines).frames
    assert len(frames) <= 20
    assert all(len(frame.function) <= 200 and frame.function.isprintable() for frame in frames)
    assert {frame.source for frame in frames} <= {*map(str.strip, SOURCE.splitlines()), ""}


@pytest.mark.skipif(sys.platform == "win32", reason="pipes there cannot be waited for")
def test_reading_ends_at_the_end_and_at_the_limit():
    theirs, ours = os.pipe()
    os.set_blocking(theirs, False)
    os.write(ours, b"all there is")
    assert read(theirs, os.getpid()) == b"all there is"
    stop = threading.Event()

    def endless() -> None:
        while not stop.is_set():
            try:
                os.write(ours, bytes(1 << 16))
            except BlockingIOError:
                time.sleep(0.001)

    os.set_blocking(ours, False)
    writer = threading.Thread(target=endless)
    writer.start()
    try:
        assert len(read(theirs, os.getpid())) <= 2 * MAX_BYTES
    finally:
        stop.set()
        writer.join()
        os.close(theirs)
        os.close(ours)
