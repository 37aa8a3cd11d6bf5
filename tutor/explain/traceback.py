"""Reading pasted text as symptoms.

It may be a traceback of Python, IPython or pytest, in a log or a quotation, incomplete, or just the
message.
"""

import re

from msgspec import Struct, structs

from tutor.explain.own_code import with_own_code
from tutor.explain.pasted import lines_of, quiet_lines
from tutor.explain.rulebook import explain
from tutor.explain.shown_code import numbered_lines, pytest_lines
from tutor.explain.symptom import UNKNOWN, Symptom
from tutor.report import Explanation

MAX_TEXT = 1 << 20
"""Characters to read, from the end."""

MAX_EXCEPTIONS = 20
"""Exceptions of a chain or a group to consider, from the end."""

MAX_MESSAGE_ALONE = 2_000
"""Characters of a text that may be a message without its exception."""

MAX_LINES = 30
"""Lines of a log to consider, from the end."""

MAX_MESSAGE_LINES = 400
"""Lines of an exception's message."""

MAX_THROUGH = 16_000
"""Characters of a traceback's frames to search, from the end."""

MAX_LINE = 800
"""Characters of such a line."""

KNOWN = frozenset(
    (
        "", "jax", "jaxlib", "flax", "optax", "numpy", "builtins", "orbax", "equinox", "chex",
        "beartype", "jaxtyping", "diffrax", "numpyro", "haiku", "tensorstore", "xla_extension",
        "etils", "msgpack", "dataclasses", "safetensors_rust", "_pickle",
    )
)  # fmt: skip
"""Top-level modules of exceptions that rules explain, and no module."""

_FILE = re.compile(
    r'^\s*File "(?P<file>[^"]*)", line (?P<number>\d{1,9})(?:, in (?:\S+\.)?(?P<function>\w+)$)?'
)
_CELL = re.compile(
    r"^(?:File (?P<file>\S+?\.py)(?::\d+)?\b|(?P<cell>(?:Cell )?In ?\[\d+\]|<ipython-input)|"
    r"(?P<older>[/~]\S+\.py) in )"
)
_TYPED = re.compile(r"^>>> (?P<line>\S.*)$")
_IN_SESSION = re.compile(r'^\s*File "<stdin>", line \d+, in <module>')
"""A frame of an interactive session, which Python before 3.13 shows without its line."""
_ARROW = re.compile(r"^-+> {1,4}(?P<number>\d{1,9}) (?P<line>.*)$")
_PYTEST_PLACE = re.compile(
    r"^(?P<file>[^\s:]+\.py):(?P<number>\d{1,9}):(?: in \S+| \w*(?:Error|Exception)\w*)?\s*$"
)
_PYTEST_LINE = re.compile(r"^>\s{2,}(?P<line>\S.*)$")
_PYTEST_MESSAGE = re.compile(r"^E(?: {7}| {3}|$)")
_WRAPPER = re.compile(
    r"^(?:[\w.]*\.)?(?:JaxStackTraceBeforeTransformation|(?:Unf|F)ilteredStackTrace|"
    r"SimplifiedTraceback): (?=\S)"
)
_EXCEPTION = re.compile(
    r"^(?:Uncaught exception: |Exception has occurred: |Exception: (?=[A-Z]\w*Error: ))?"
    r"(?P<module>(?:[A-Za-z_]\w*\.)*)"
    r"(?P<name>_?[A-Z]\w*)(?:: ?(?P<message>.*))?$"
)
_WARNING = re.compile(r"^\S+:\d+: (?P<name>\w*Warning): (?P<message>.*)$")
_ERROR = re.compile(r"(?:Error|Exception|Warning|NotFound|Interrupt|Collection|Iteration)$")
_AFTER = re.compile(
    r"^(?:Traceback \(most recent call last\)|During handling of the above|The above exception was|"
    r"The stack trace below excludes|For simplicity, JAX has removed|-{15,}|={15,}|_{15,}|"
    r"(?:_ ){6,}|In \[\d+\]:|>>> |\S+\.py:\d+: \w+(?:Error|Exception)?$|Exception in thread |"
    r"FAILED )"
)
_NOTICE = re.compile(
    r"\s{0,8}(?:-{15,80}\s{1,8})?For simplicity, JAX has removed its internal frames[^\n]*"
)
"""What JAX adds to a message, in case it is not on a line of its own."""
_SUSPECT = re.compile(
    r"jax|xla|cu(?:da|dnn|blas|init|mem)|[gt]pu|memory|tracer|trac|shard|pytree|argument|must|"
    r"cannot|not |error|fail", re.IGNORECASE
)  # fmt: skip
"""What a line of a log that is an error says."""

_SECTION = re.compile(r"-{30}\n(?:The leaked intermediate value|When the value was created)")
"""A line inside JAX's message about a leaked tracer."""

_QUOTED = "The error was:"
"""The end of JAX's messages that go on with another exception's traceback."""

_CARETS = re.compile(r"^\s*[\^~]+\s*$")
_LIBRARY = re.compile(
    r"site-packages|dist-packages|[/\\]lib[/\\]python3|<frozen|<string>|"
    r"(?:^|[/\\])(?:jax[/\\](?:_src|experimental|interpreters)|jaxlib|optax[/\\](?:_src|contrib)|"
    r"flax[/\\](?:core|linen|nnx|training)|(?:chex|haiku)[/\\]_src|orbax[/\\]checkpoint)[/\\]"
)
_NAMES_JAX = re.compile(
    r"jax|xla_ext|ArrayImpl|(?:\b|_)(?:jnp|jr|lax|nnx|eqx)\b|flax|optax|orbax|equinox",
    re.IGNORECASE,
)
_OF_TENSORFLOW = re.compile(r"\[Op:|requested by op +\w")


class _Frame(Struct, frozen=True):
    """A line of the learner's code in a traceback, where the text names it, its file and number,
    and the function that it is in."""

    at: int
    code: str
    place: tuple[str, int]
    function: str = ""


def explain_text(text: str) -> tuple[Symptom | None, Explanation | None]:
    """Return the exception of a text that is explained, with its explanation; else the last one."""
    found = read_symptoms(text)
    for symptom in found:
        if not _foreign(symptom):
            whole = with_own_code(symptom)
            if (explained := explain(whole)) is not None:
                return whole, explained
    last = next((one for one in found if one.exception != UNKNOWN), None)
    return (with_own_code(last) if last is not None else None), None


def _foreign(symptom: Symptom) -> bool:
    """Return whether an exception is another library's, or the user's own class."""
    foreign = _OF_TENSORFLOW.search(symptom.message) is not None
    return foreign or symptom.module.partition(".")[0] not in KNOWN


def read_symptoms(text: str) -> list[Symptom]:
    """Return the exceptions in a text, the last one first: it may wrap the one that matters.

    After them come lines of a log, and a short text as a whole, which may be messages alone: their
    exception is `UNKNOWN`.
    """
    text = text[-MAX_TEXT:]
    quiet = quiet_lines(text)
    lines = lines_of(text)
    lines = [_WRAPPER.sub("", line) for line in lines]
    frames, last = _frames(lines)
    around = _around(lines)
    warned = any(_WARNING.match(line) for line in lines)
    if any(
        line.startswith("Help on ")
        or (last < 0 and not warned and line.lstrip().startswith(">>> "))
        for line in lines
    ):  # documentation quotes errors
        return []
    names_jax = _NAMES_JAX.search(text) is not None
    heads = _heads(lines, last)
    filled = [line for line in lines if line.strip()]
    if not frames and len(filled) > 1:
        heads = [(at, head) for at, head in heads if head["message"]]  # others are names in a text
    found = [_symptom(lines, *head, frames, names_jax) for head in heads[-MAX_EXCEPTIONS:]]
    found = [structs.replace(one, around=around) for one in found]
    if "rendezvous.cc" in text and not found:  # the process is aborted: there is no traceback
        return [Symptom(fault="rendezvous", message=text)]
    said = [line for one in lines if (line := _message(one).strip()) and line[0] not in "#|="]
    said = [line for line in said if line not in quiet]
    suspects = [line for line in said if _SUSPECT.search(line) and len(line) <= MAX_LINE]
    log = _shortened(lines)
    alone = [_made(UNKNOWN, line, [], names_jax, "", log) for line in suspects[-MAX_LINES:]]
    alone = [] if frames else alone
    if not found and said and sum(map(len, said)) <= MAX_MESSAGE_ALONE:
        alone.append(_made(UNKNOWN, "\n".join(said), frames, names_jax))
    return [*reversed(found), *reversed(alone)]


def _around(lines: list[str]) -> str:
    """Return the learner's code that is shown around the failing lines."""

    def cell(line: str) -> bool | None:
        found = _CELL.match(line)
        file = (found["file"] or found["older"] or "") if found else ""
        return None if found is None else not _LIBRARY.search(file)

    def place(line: str) -> bool | None:
        found = _PYTEST_PLACE.match(line)
        return None if found is None else not _LIBRARY.search(found["file"])

    return "\n".join([*numbered_lines(lines, cell), *pytest_lines(lines, place)])


def _symptom(
    lines: list[str], at: int, head: re.Match[str], frames: list[_Frame], names_jax: bool
) -> Symptom:
    message = [
        head["message"] or "",
        *_message_lines(lines[at + 1 : at + 1 + MAX_MESSAGE_LINES], head["message"] or ""),
    ]
    own = [frame for frame in frames if frame.at < at]
    if lines[at].startswith("E "):  # pytest shows the place of the exception after its message
        end = at + len(message)
        while end < len(lines) and _PYTEST_MESSAGE.match(lines[end]):
            end += 1
        own += [frame for frame in frames if at <= frame.at <= end + 3]
    module = head.groupdict().get("module") or ""
    own = own or frames
    return _made(
        head["name"],
        "\n".join(message).strip(),
        own,
        names_jax,
        module.rstrip("."),
        _shortened(lines[:at]),
    )


def _shortened(lines: list[str]) -> str:
    """Return lines as a text to search, the last ones of many."""
    return "\n".join(lines)[-MAX_THROUGH:].replace("\\", "/")


def _made(
    exception: str,
    message: str,
    own: list[_Frame],
    names_jax: bool,
    module: str = "",
    through: str = "",
) -> Symptom:
    return Symptom(
        exception=exception,
        module=module,
        message=_NOTICE.sub("", message),
        line=own[-1].code if own else "",
        source="\n".join(frame.code for frame in own),
        through=through,
        places=tuple(frame.place for frame in own),
        function=own[-1].function if own else "",
        names_jax=names_jax,
    )


def _frames(lines: list[str]) -> tuple[list[_Frame], int]:
    """Return the lines of code of the learner's frames, and the position of the last frame."""
    own: list[_Frame] = []
    last = -1
    library = False
    marked = ""  # the line that pytest points to, whose file follows
    typed = ""  # the last statement of an interactive session
    file = ""  # of the lines that IPython shows
    for number, line in enumerate(lines):
        after = next((one.strip() for one in lines[number + 1 : number + 2]), "")
        if found := _FILE.match(line):
            last = number
            if not _LIBRARY.search(found["file"]) and not _FILE.match(after):
                unseen = typed and _IN_SESSION.match(line) and _no_code(after)
                code = typed if unseen else after
                place = found["file"], int(found["number"])
                own.append(_Frame(number, code, place, found["function"] or ""))
        elif found := _TYPED.match(line):
            typed = found["line"]
        elif found := _PYTEST_LINE.match(line):
            marked = found["line"]
        elif found := _PYTEST_PLACE.match(line):
            code, marked = marked or after, ""
            if not _LIBRARY.search(found["file"]) and not _PYTEST_MESSAGE.match(code):
                own.append(_Frame(number, code, (found["file"], int(found["number"]))))
        elif found := _CELL.match(line):
            last = number
            file = found["file"] or found["older"] or ""
            library = bool(_LIBRARY.search(file))
        elif found := _ARROW.match(line):
            last = number
            if not library:
                own.append(_Frame(number, found["line"].strip(), (file, int(found["number"]))))
    return [one for one in own if one.code and not _no_code(one.code)], last


def _no_code(line: str) -> bool:
    """Return whether the line after a frame's file is not its code, which Python did not find."""
    head = _EXCEPTION.match(line)
    named = head is not None and bool(head["message"]) and bool(_ERROR.search(head["name"]))
    return named or bool(_CARETS.match(line))


def _heads(lines: list[str], last_frame: int) -> list[tuple[int, re.Match[str]]]:
    """Return the lines that name an exception, with their positions.

    In a traceback it is the first such line after a frame, because the message may contain more.
    Without frames any line with a colon could be one, so the name of an error is required.
    """
    found: list[tuple[int, re.Match[str]]] = []
    fresh = True
    quotes = any(_QUOTED in line for line in lines)
    quoted = 0
    for number, line in enumerate(lines):
        if number < quoted:
            continue
        if _FILE.match(line) or _ARROW.match(line) or _CELL.match(line) or _AFTER.match(line):
            fresh = True
        if line.lstrip()[:1] in ("#", "|"):  # a comment, or Python's help
            continue
        pytest = bool(_PYTEST_MESSAGE.match(line))
        bare = _WRAPPER.sub("", _message(line))
        bare = bare.lstrip() if last_frame < 0 else bare
        match = _EXCEPTION.match(bare) or _WARNING.match(bare)
        if match is None or "Traceback (most recent call last)" in line:
            fresh = fresh or not (pytest or line.strip())
            continue
        named = bool(_ERROR.search(match["name"]))
        framed = number > last_frame >= 0 and not any(at > last_frame for at, _ in found)
        if (named and (fresh or pytest)) or (framed and match["message"]):
            if named and not match["message"] and last_frame < 0 and " " in bare:
                continue
            found.append((number, match))
            fresh = False
            if quotes:
                quoted = _end_of_quoted(lines, number, match["message"] or "")
    return found


def _message(line: str) -> str:
    """Return a line without pytest's mark."""
    return _PYTEST_MESSAGE.sub("", line)


def _end_of_quoted(lines: list[str], at: int, message: str) -> int:
    """Return where a message ends that quotes another exception's traceback; 0 if it does not."""
    said = _message_lines(lines[at + 1 : at + 1 + MAX_MESSAGE_LINES], message)
    return at + 1 + len(said) if any(_QUOTED in line for line in (message, *said)) else 0


def _message_lines(lines: list[str], first: str) -> list[str]:
    """Return the lines of a message after its first, with a traceback that it quotes."""
    message: list[str] = []
    bare = [_message(line) for line in lines]
    for number, line in enumerate(bare):
        if _AFTER.match(line) and not _SECTION.match("\n".join(bare[number : number + 2])):
            before = message[-1] if message else first
            if not (before.endswith(_QUOTED) and line.startswith("Traceback")):
                break
        message.append(line)
    return message
