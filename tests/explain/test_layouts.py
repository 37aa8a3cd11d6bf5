"""One error in every layout in which people paste it is explained in the same way."""

import json
from collections.abc import Callable

import pytest

from tutor.explain.traceback import explain_text, read_symptoms

PATH = "/home/somebody/with/a/path/that/is/very/long/" + "a_directory_with_a_long_name/" * 6

MESSAGE = (
    "Attempted boolean conversion of traced array with shape bool[].\n"
    f"The error occurred while tracing the function step at {PATH}train.py:4 for jit. "
    "This concrete value was not available in Python because it depends on the value of x.\n"
    "See https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerBoolConversionError"
)
ERROR = f"jax.errors.TracerBoolConversionError: {MESSAGE}"
LINE = "if x > 0:"
TRACEBACK = f"""\
Traceback (most recent call last):
  File "{PATH}train.py", line 12, in <module>
    loss = step(params)
           ^^^^^^^^^^^^
  File "{PATH}train.py", line 5, in step
    if x > 0:
       ^^^^^
{ERROR}
--------------------
For simplicity, JAX has removed its internal frames from the traceback of the following exception. \
Set JAX_TRACEBACK_FILTERING=off to include these.
"""
UNFILTERED = TRACEBACK.replace(
    "jax.errors.Tracer",
    f"""  File "{PATH}lib/python3.11/site-packages/jax/_src/core.py", line 1, in __bool__
    check_bool_conversion(self)
jax.errors.Tracer""",
    1,
)
IPYTHON = f"""\
---------------------------------------------------------------------------
TracerBoolConversionError                 Traceback (most recent call last)
Cell In[3], line 9
      6         return x
      7     return -x
----> 9 step(1.0)

    [... skipping hidden 13 frame]

Cell In[3], line 5, in step(x)
      3 @jax.jit
      4 def step(x):
----> 5     if x > 0:
      6         return x
      7     return -x

    [... skipping hidden 1 frame]

File ~/lib/python3.11/site-packages/jax/_src/core.py:1500, in check_bool_conversion(arr)
   1498 def check_bool_conversion(arr):
-> 1500   raise TracerBoolConversionError(arr)

TracerBoolConversionError: {MESSAGE}
"""
OLD_IPYTHON = f"""\
---------------------------------------------------------------------------
UnfilteredStackTrace                      Traceback (most recent call last)
<ipython-input-3-0a1b2c3d4e5f> in <module>()
      8
----> 9 step(1.0)

<ipython-input-3-0a1b2c3d4e5f> in step(x)
      4 def step(x):
----> 5     if x > 0:
      6         return x

UnfilteredStackTrace: {ERROR}

The stack trace below excludes JAX-internal frames.
The preceding is the original exception that occurred, unmodified.

--------------------
"""
SHOWN = "\n".join(f"E       {line}" for line in ERROR.split("\n"))
PYTEST = f"""\
=================================== FAILURES ===================================
__________________________________ test_step ___________________________________

    def test_step():
>       assert step(1.0) == 1.0

test_train.py:14:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

x = JitTracer(float32[])

    @jax.jit
    def step(x):
>       if x > 0:
           ^^^^^
{SHOWN}

train.py:5: TracerBoolConversionError
=========================== short test summary info ============================
FAILED test_train.py::test_step - jax.errors.TracerBoolConversionError: Attempted boolean conv...
============================== 1 failed in 0.92s ===============================
"""
NOTICE = f"""
E       {"-" * 20}
E       For simplicity, JAX has removed its internal frames from the traceback of the following \
exception. Set JAX_TRACEBACK_FILTERING=off to include these."""
PYTEST_SHORT = f"""\
_________________________________ test_step ____________________________________
test_train.py:14: in test_step
    assert step(1.0) == 1.0
train.py:5: in step
    if x > 0:
{SHOWN.replace("E       ", "E   ")}
"""
GROUP = "\n".join(
    [
        "  + Exception Group Traceback (most recent call last):",
        '  |   File "/srv/app/main.py", line 40, in <module>',
        "  |     asyncio.run(main())",
        "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)",
        "  +-+---------------- 1 ----------------",
        *(f"    | {line}" for line in TRACEBACK.splitlines()),
        "    +------------------------------------",
    ]
)
WRAPPED = f"""\
{TRACEBACK}
The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/somebody/site-packages/trainer/loop.py", line 90, in fit
    raise TrainingFailed("epoch 0 failed") from error
trainer.TrainingFailed: epoch 0 failed
"""
HANDLED = WRAPPED.replace(
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
).replace("trainer.TrainingFailed: epoch 0 failed", "RuntimeError: could not close the run")
TRANSFORMED = f"""\
jax._src.source_info_util.JaxStackTraceBeforeTransformation: {ERROR}

The preceding stack trace is the source of the JAX operation that, once transformed by JAX, \
triggered the following exception.
"""


def prefixed(prefix: str) -> str:
    return "\n".join(prefix + line for line in TRACEBACK.splitlines())


def in_json(**entries: object) -> str:
    return json.dumps({"level": "error", "ts": 1763990000.1, **entries})


WITH_LINE: dict[str, str | Callable[[], str]] = {
    "python": TRACEBACK,
    "unfiltered": UNFILTERED,
    "carriage returns": TRACEBACK.replace("\n", "\r\n"),
    "after other output": f"Epoch 1\nloss: 0.31\n100%|####| 10/10\n{TRACEBACK}",
    "before other output": f"{TRACEBACK}\nwandb: synced 3 files\n",
    "indented": prefixed("    "),
    "tabs": prefixed("\t"),
    "quoted": prefixed("> "),
    "quoted twice": prefixed("> > "),
    "fenced": f"```\n{TRACEBACK}```\n",
    "fenced with a language": f"I get this:\n\n```pytb\n{TRACEBACK}```\n\nWhat is wrong?\n",
    "quoted among other words": f"I get this:\n\n{prefixed('> ')}\n\nWhat is wrong?\n",
    "quoted in a long text": "Some words.\n" * 20 + f"\n{prefixed('> ')}\n\n" + "More.\n" * 20,
    "quoted, and words at once": f"I get this:\n{prefixed('> ')}\nWhat is wrong?\n",
    "fenced in a quote": "> ```\n" + prefixed("> ") + "\n> ```\n",
    "rank": prefixed("[rank0]: "),
    "worker": prefixed("(train_worker pid=1234, ip=10.0.0.7) "),
    "compose": prefixed("trainer-1  | "),
    "container": prefixed("2026-02-11T08:41:07.126123456Z stderr F "),
    "timestamps": prefixed("2026-11-24 12:00:01,123 - root - ERROR - "),
    "ISO timestamps": prefixed("2026-11-24T12:00:01.1234567Z "),
    "timestamps of logging": prefixed("[2026-11-24 12:00:01,123][__main__][ERROR] - "),
    "loguru": prefixed("2026-11-24 12:00:01.123 | ERROR    | __main__:main:12 - "),
    "absl": prefixed("E1124 12:00:01.123456 139 train.py:90] "),
    "levels": prefixed("ERROR:root:"),
    "srun": prefixed("0: "),
    "ipython": IPYTHON,
    "ipython of old": OLD_IPYTHON,
    "coloured": IPYTHON.replace("TracerBool", "\x1b[31mTracerBool\x1b[39m").replace(
        "5 ", "5\x1b[0m "
    ),
    "pytest": PYTEST,
    "pytest, short": PYTEST_SHORT,
    "pytest, with JAX's notice": PYTEST.replace(SHOWN, SHOWN + NOTICE),
    "exception group": GROUP,
    "JSON": in_json(msg="step failed", exc_info=TRACEBACK),
    "JSON with frames": in_json(error={"type": "error", "stack": TRACEBACK.splitlines()}),
    "JSON of a notebook": json.dumps(
        [{"output_type": "error", "ename": "E", "traceback": IPYTHON.splitlines()}]
    ),
    "JSON in a log": "2026-11-24 12:00 INFO start\n" + in_json(message=TRACEBACK),
    "escaped": repr(TRACEBACK),
    "wrapped": WRAPPED,
    "while handling": HANDLED,
}
WITHOUT_LINE = {
    "the last line": ERROR,
    "the last line, indented": "    " + ERROR,
    "the last line, quoted": "> " + ERROR.replace("\n", "\n> "),
    "the last line, quoted among others": f"It says\n\n> {ERROR.partition(chr(10))[0]}\n\nWhy?",
    "the last line in backticks": f"`{ERROR.partition(chr(10))[0]}`",
    "the last line of pytest": SHOWN,
    "one line of pytest": SHOWN.partition("\n")[0],
    "pytest's summary": "E   " + ERROR.partition("\n")[0],
    "the last line of a log": f"2026-11-24 12:00:01,123 ERROR {ERROR}",
    "unfiltered in front": f"jax._src.traceback_util.UnfilteredStackTrace: {ERROR}",
    "filtered in front": f"FilteredStackTrace: {ERROR}",
    "before a transformation": TRANSFORMED,
    "VS Code": f"Exception has occurred: TracerBoolConversionError\n{MESSAGE}",
    "a line of a log": "\n".join([*["step 1 loss 0.31"] * 90, MESSAGE.partition("\n")[0], "done"]),
    "without its module": ERROR.removeprefix("jax.errors."),
    "the message alone": MESSAGE,
    "a line of the message": MESSAGE.partition("\n")[0],
    "the message in a sentence": f"I get `{MESSAGE.partition(chr(10))[0]}` when I call it.",
}


@pytest.mark.parametrize("layout", WITH_LINE)
def test_the_error_and_its_line_are_read(layout: str):
    text = WITH_LINE[layout]
    assert isinstance(text, str)
    symptom, explanation = explain_text(text)
    assert symptom is not None and explanation is not None, read_symptoms(text)
    assert explanation.id == "branch-on-a-tracer"
    assert symptom.line == LINE
    assert f"`{LINE}`" in explanation.what
    for other in ("For simplicity", "------", "What is wrong", "====", "wandb ="):
        assert other not in symptom.message


@pytest.mark.parametrize("layout", WITHOUT_LINE)
def test_the_error_alone_is_read(layout: str):
    _, explanation = explain_text(WITHOUT_LINE[layout])
    assert explanation is not None, read_symptoms(WITHOUT_LINE[layout])
    assert explanation.id in ("branch-on-a-tracer", "class-tracer-bool")
    assert "{" not in explanation.what and "this`" not in explanation.what


@pytest.mark.parametrize(
    "text",
    [
        "E   TypeError: {}\nE   {}\nE   {}",
        "E       TypeError: {}\nE       {}\nE       {}\n\ntrain.py:16: TypeError",
        "TypeError: {}\n{}\n{}",
        "TypeError: {} {} {}",
        "{}\n{}\n{}",
    ],
)
def test_a_message_ends_before_the_notice_of_jax(text: str):
    message = "Index type must be an integer, got VmapTracer(aval=bool[]) as bool"
    notice = "For simplicity, JAX has removed its internal frames from the traceback."
    _, explanation = explain_text(text.format(message, "-" * 20, notice))
    assert explanation is not None
    assert explanation.what.endswith("got VmapTracer(aval=bool[]) as bool")


def test_a_line_is_not_made_up():
    _, explanation = explain_text(ERROR)
    assert explanation is not None
    assert explanation.what[0].isupper() and "`" not in explanation.what[:4]


OF_THE_CELL = """\
        return x
    return -x
step(1.0)
@jax.jit
def step(x):
    if x > 0:
        return x
    return -x"""
OF_PYTEST = """\
def test_step():
    assert step(1.0) == 1.0
@jax.jit
def step(x):
    if x > 0:"""


@pytest.mark.parametrize(
    ("layout", "around"),
    [("python", ""), ("ipython", OF_THE_CELL), ("pytest", OF_PYTEST), ("pytest, short", "")],
)
def test_code_around_the_line_is_read(layout: str, around: str):
    text = WITH_LINE[layout]
    assert isinstance(text, str)
    lines = read_symptoms(text)[0].around.split("\n")
    assert "\n".join(line for line in lines if line.strip(" ^")) == around


def test_code_of_libraries_is_not_the_learners():
    text = PYTEST.replace("test_train.py:14:", "/lib/python3.11/site-packages/a.py:14:")
    assert "test_step" not in read_symptoms(text)[0].around
    text = IPYTHON.replace("Cell In[3], line 5, in step(x)", "File ~/site-packages/a.py:5, in f(x)")
    assert "def step" not in read_symptoms(text)[0].around
