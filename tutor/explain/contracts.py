"""What functions of JAX, Flax and Optax need: shown where an error arose in a call of one, and no
rule says more.

The texts are data, in `contracts/<topic>.yaml`. They hold whatever went wrong, since they say
nothing about the error. Tests run every example.
"""

import re
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from tutor.explain.callee import UNMISTAKABLE, callee_of
from tutor.explain.rule import Text
from tutor.explain.rulebook import shortened
from tutor.explain.symptom import Symptom
from tutor.lesson import Id
from tutor.report import Contract, Explanation

FOLDER = Path(__file__).parent / "contracts"

SHOWN = 2
"""Functions to show where one line calls several, and nothing tells which of them failed."""

MAX_SOURCE = 32_000
"""Characters of code to search for what made a name. Code and tracebacks may be anybody's, and the
time for a search grows with the square of a line's length."""

MAX_LINE = 400
"""Characters of a line; of a longer one, only so many of the failing line are read, and none of
others."""

MAX_LINES = 20
"""Lines to look at in which a function is given to another."""

MAX_CALLS = 10
"""Calls in a line to look at."""

_ALIASES = {
    "jnp": "jax.numpy", "jr": "jax.random", "jrandom": "jax.random", "jtu": "jax.tree_util",
    "jsp": "jax.scipy", "jsl": "jax.scipy.linalg", "nn": "flax.linen",
    "pl": "jax.experimental.pallas",
}  # fmt: skip
"""Names under which people import modules, if they are not the end of the module's own."""

_CALL = re.compile(
    r"(?<![\w.)\]])(?P<name>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)\s*(?=\()|@(?P<mark>[\w.]+)"
)
_DOTTED = r"(?:functools\.)?(?:partial\(\s*)?((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)"
_ASSIGNED = rf"^[^\n=#(]*\b{{name}}\b[^\n=(]*=\s*{_DOTTED}\s*[(,]"
_DECORATED = r"^(?:[ \t]*@[^\n]*\n){{1,8}}[ \t]*def {name}\b"
_MARK = rf"^[ \t]*@{_DOTTED}"
_OPERATOR = re.compile(r"_operator_(?!matmul|rmatmul)")
_WRAPPER = re.compile(r"_(?:wrapper|fn|impl)$")
_CALLS_WRONGLY = frozenset(
    (
        "TypeError", "ValueError", "IndexError", "KeyError", "AttributeError", "AssertionError",
        "NotImplementedError", "ZeroDivisionError", "OverflowError",
    )
)  # fmt: skip
"""Classes of errors, beside those of JAX and Flax, that a wrong call can raise."""
_LIBRARIES = ("", "jax", "jaxlib", "flax", "optax", "orbax", "chex")
"""Where such an error is raised; empty if the traceback does not show it."""
_SELDOM = (
    *("zeros", "ones", "array", "arange", "full", "eye", "key", "PRNGKey"),
    *("relu", "gelu", "leaky_relu"),
)
"""Functions that often give another one its arguments, and seldom fail."""
_OF_ARGUMENTS = ("TypeError", "ValueError", "IndexError", "NameError")
"""Those that a wrong order or shape of arguments raises, or an axis of a name that nothing maps."""
_NOT_OF_CALLS = frozenset(
    ("JaxRuntimeError", "XlaRuntimeError", "JaxStackTraceBeforeTransformation")
)


class Function(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A function or class of a library, and what it needs."""

    name: Annotated[str, Meta(pattern=r"^(jax|flax|optax|orbax)[\w.]*$", description="In full.")]
    needs: Annotated[
        Text,
        Meta(
            description="What it takes and gives back, and how it calls a function that it is "
            "given: order, shapes, dtypes. What PyTorch has instead, if that differs."
        ),
    ]
    example: Annotated[
        str,
        Meta(
            min_length=1, max_length=1_500, description="A module that calls it rightly.",
            extra={"holds": "module"},
        ),
    ]  # fmt: skip
    lesson: Annotated[Id, Meta(description="The lesson that teaches it.")]
    link: Annotated[str, Meta(description="Its page.", pattern=r"^https://")]
    also: Annotated[
        tuple[str, ...],
        Meta(description="Other names in full, and how methods are called: `tx.update(`."),
    ] = ()
    beside: Annotated[
        str,
        Meta(
            description="What the code or the traceback must contain, for names that several have."
        ),
    ] = ""
    files: Annotated[
        tuple[str, ...],
        Meta(description="Ends of the paths of its own files, if they are not called like it."),
    ] = ()
    gives: Annotated[
        bool,
        Meta(
            description="Whether it calls a function of the learner's with arguments of its own "
            "making, such as a counter or one row, so that an error in there may be due to it."
        ),
    ] = False

    @property
    def names(self) -> tuple[str, ...]:
        """All full names of it."""
        return (self.name, *(one for one in self.also if not one.endswith(("(", "["))))

    @property
    def methods(self) -> tuple[str, ...]:
        """How it is called as a method."""
        return tuple(one for one in self.also if one.endswith(("(", "[")))

    @property
    def contract(self) -> Contract:
        """What is shown of it."""
        needs = " ".join(self.needs.split())
        return Contract(self.name, needs, self.example.rstrip(), self.lesson, self.link)


class Functions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of functions."""

    about: Annotated[str, Meta(max_length=400, description="What these functions are for.")]
    functions: Annotated[tuple[Function, ...], Meta(min_length=1)]


def contracts_for(symptom: Symptom, explained: Explanation | None) -> tuple[Contract, ...]:
    """Return what the functions need in which an error arose, unless its explanation says so.

    These are the functions that the innermost line calls, or that made what it calls. If it calls
    none, it is the one that calls the function which that line is in, or of which the traceback
    goes on inside a library. With an explanation that is sure, one of them, and only if the error
    may come from arguments.
    """
    if not _may_come_from_a_call(symptom):
        return ()
    sure = explained is not None and not explained.likely
    if sure and symptom.exception not in _OF_ARGUMENTS:
        return ()
    innermost = called_in(_failed_part(symptom), symptom)
    found = _failed(innermost, symptom)
    if sure:
        found = [one for one in found if _last(one.name) not in _SELDOM]
    if not innermost or sure:
        found = found + _calling(symptom)
    inside = _inside(symptom)
    if found and [_last(one.name) for one in inside] == ["__call__"]:
        inside = []  # which module is called, the line says better
    found = [*dict.fromkeys(inside + found)] or _said(symptom)
    if explained is not None:
        others = " ".join(one.what + one.instead for one in explained.alternatives)
        told = f"{explained.what} {explained.why} {explained.instead} {others}"
        told = told.replace(f"`{shortened(symptom.line.strip())}`", "")  # it is only quoted
        found = [one for one in found if not _mentions(told, one)]
    return tuple(one.contract for one in found[: 1 if sure else SHOWN])


def _may_come_from_a_call(symptom: Symptom) -> bool:
    """Return whether a wrong call of a function of JAX, Flax or Optax may have raised an error."""
    ours = symptom.module.startswith(("jax", "flax")) or "axis name" in symptom.message
    wrong = symptom.exception in _CALLS_WRONGLY or ours
    own = re.match(r"raise\b|assert\b|np\.testing\.", symptom.line) is not None
    another = symptom.raised_in not in _LIBRARIES
    return (
        wrong and symptom.names_jax and symptom.exception not in _NOT_OF_CALLS
        and not own and not another
    )  # fmt: skip


def _failed_part(symptom: Symptom) -> str:
    """Return what failed of the innermost line: all of it if that is what a result is assigned to,
    as in `a, b = f(x)`, which does not say what was called."""
    part = symptom.frames[-1] if symptom.frames else ""
    target = re.match(rf"{re.escape(part[:MAX_LINE])}\s*=(?!=)", symptom.line.strip())
    return symptom.line if target else part


def _failed(called: list[Function], symptom: Symptom) -> list[Function]:
    """Return the function that the message or the libraries' frames name; else all, if the message
    is not about another one."""
    if (callee := callee_of(symptom.message)) and callee[0] not in "_<":  # __init__, <lambda>
        line = symptom.line[:MAX_LINE]
        given = re.search(rf"\(.*\b{re.escape(callee)}\b", line) is not None
        return [one for one in called if callee in map(_last, one.names) or (given and one.gives)]
    entered = _WRAPPER.sub("", symptom.inside[0][1]) if symptom.inside else ""
    if any(_last(one["name"] or "") == entered for one in _calls(_failed_part(symptom))):
        # Facts about the others would mislead, even if nothing is known of this one.
        return [one for one in called if entered in map(_last, one.names)]
    for pattern, text in ((r"\b{}\b", symptom.message), (r", in {}$", symptom.through)):
        named = [
            one
            for one in called
            if re.search(pattern.format(re.escape(_last(one.name))), text, re.MULTILINE)
        ]
        if named:
            return named[:1]
    # An error in `jnp.ones(3) << 2` or `layer(jnp.ones(3))` is not one of `ones`.
    whole = re.fullmatch(r"(?:[\w, ]+=\s*)?([\w.]+)\(.*\)", _failed_part(symptom).strip())
    outer = _last(whole[1]) if whole else ""
    return [
        one for one in called if _last(one.name) not in _SELDOM or outer in map(_last, one.names)
    ]


def _calling(symptom: Symptom) -> list[Function]:
    """Return the function of a library that calls the one which the innermost line is in: that of
    the line before, or else one that is given it by name: `f.defvjp(forward, backward)`."""
    before = [*symptom.frames[:-1]][-1:]
    found = [one for line in before for one in called_in(line, symptom) if one.gives]
    if not found and symptom.function:
        given = re.compile(rf"\(.*\b{re.escape(symptom.function)}\b")
        lines = [one for one in _code(symptom).split("\n") if given.search(one)][:MAX_LINES]
        found = [one for line in lines for one in called_in(line, symptom) if one.gives]
    return found[:1]


def _code(symptom: Symptom) -> str:
    """Return the learner's code and the traceback, as far as they are searched."""
    lines = f"{symptom.source}\n{symptom.through}".split("\n")
    return "\n".join(line for line in lines if len(line) <= MAX_LINE)[:MAX_SOURCE]


def _inside(symptom: Symptom) -> list[Function]:
    """Return the function whose file or code the traceback goes through, inside a library. An
    operator such as `+` goes through `jax.lax.add`, too, whose other facts are beside the point."""
    if any(_OPERATOR.match(name) for _, name in symptom.inside):
        return []
    for depth, (file, name) in enumerate(symptom.inside):
        stem = file.rpartition("/")[2].removesuffix(".py").strip("_")
        package, part = file.partition("/")[0], ".nnx." if "/nnx/" in file else ""
        # Files of JAX hold many functions, and these call each other.
        if package == "jax" and (depth > 1 or (depth == 1 and name.startswith("tree_"))):
            continue
        for last in (_WRAPPER.sub("", name), *(() if package == "jax" else (stem,))):
            found = {
                full: function
                for full, function in _by_last_name().get(last, ())
                if full.startswith(f"{package}.") and part in full and _fits(function, symptom)
            }
            if len({function.name for function in found.values()}) > 1:  # tree.map and lax.map
                folders = {one.strip("_") for one in file.split("/")[1:-1]}
                for parts in ({stem}, folders | {stem}):  # the file says more than its folders
                    in_it = {full: one for full, one in found.items() if {*full.split(".")} & parts}
                    if in_it:
                        break
                found = in_it
            if found:
                return [*found.values()][:1]
        for function in functions():
            if any(file.endswith(one) for one in function.files):
                return [function]
    return []


def _said(symptom: Symptom) -> list[Function]:
    """Return the function whose arguments the message is about: `fori_loop() missing 1 …`."""
    callee = callee_of(symptom.message)
    if callee not in UNMISTAKABLE or re.search(rf"\bdef {callee}\b", symptom.through):
        return []
    found = {one.name: one for _, one in _by_last_name().get(callee, ()) if _fits(one, symptom)}
    return [*found.values()][:1]


def _mentions(text: str, function: Function) -> bool:
    """Return whether a text speaks of a function: `scan`, jnp.split, split(x)."""
    last = re.escape(_last(function.name))
    return re.search(rf"[`.]{last}\b|\b{last}[`(]", text) is not None


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def called_in(line: str, symptom: Symptom) -> list[Function]:
    """Return the functions that a line of code calls, in its order."""
    found: list[tuple[int, Function]] = []
    spans: list[tuple[int, int]] = []
    code = _code(symptom)
    line = line[:MAX_LINE]
    for match in _calls(line):
        function = of_name(match["name"] or match["mark"], code, symptom)
        if function is not None:
            found.append((match.start(), function))
            spans.append((match.start(), match.end() + 1))
        elif match["name"]:
            found += [(match.start(), one) for one in _made(match["name"], code, symptom)]
    for text, function in _methods():  # the longest first: `tx.init(` before `.init(`
        if text not in line or not _fits(function, symptom) or _is_own_method(text, code):
            continue
        for match in re.finditer(rf"(?<!\bnp)(?<!\bnumpy)(?<!\btorch){re.escape(text)}", line):
            if not any(start < match.end() and match.start() < end for start, end in spans):
                spans.append(match.span())
                found.append((match.start(), function))
    return [*{one.name: one for _, one in sorted(found, key=lambda pair: pair[0])}.values()]


def _is_own_method(text: str, code: str) -> bool:
    """Return whether the learner's classes have a method that is called like `.take(`."""
    name = text.removeprefix(".").removesuffix("(")
    return name.isidentifier() and re.search(rf"^\s{{1,40}}def {name}\(", code, re.M) is not None


def _calls(line: str) -> list[re.Match[str]]:
    """Return the calls and decorators in a line of code."""
    return [*islice(_CALL.finditer(line[:MAX_LINE]), MAX_CALLS)]


def _made(spelled: str, code: str, symptom: Symptom) -> list[Function]:
    """Return the functions that made what is called by a name, as far as the code shows it:
    `nnx.RNN` for `self.rnn(`, after `self.rnn = nnx.RNN(cell)`; `optax.adam` for `tx.update(`; and
    those that decorate it."""
    first, _, rest = spelled.removeprefix("self.").partition(".")
    name = re.escape(first)
    made = [found[1] for found in re.finditer(_ASSIGNED.format(name=name), code, re.MULTILINE)][-1:]
    for found in re.finditer(_DECORATED.format(name=name), code, re.MULTILINE):
        made += re.findall(_MARK, found[0], re.MULTILINE)
    known = [of_name(one, code, symptom) for one in made]
    return [
        one
        for one in known
        if one is not None and (not rest or one.name.startswith(("flax.", "optax.")))
    ]


def of_name(spelled: str, source: str = "", symptom: Symptom | None = None) -> Function | None:
    """Return the function that code calls by a name such as `lax.scan`; None if there is none.

    **Arguments:** `source`: the code, which may import a name that has no module in front of it.
    """
    head, dot, last = spelled.rpartition(".")
    imported = rf"\bimport [^;\n]*\b{re.escape(last)}\b"
    if not dot and last not in UNMISTAKABLE and not re.search(imported, source):
        return None
    wanted = {spelled}
    for alias, module in _ALIASES.items():
        if head == alias or head.startswith(f"{alias}."):
            wanted.add(f"{module}{head.removeprefix(alias)}.{last}")
    exact = {f"{module}.{last}" for module in _imported_as(head, source)}
    for name, function in _by_last_name().get(last, ()):
        fits = name in exact or any(name == one or name.endswith(f".{one}") for one in wanted)
        if fits and (symptom is None or _fits(function, symptom)):
            return function
    return None


def _imported_as(name: str, source: str) -> list[str]:
    """Return the modules that code imports under another name, in full."""
    if not name.isidentifier():
        return []
    whole = re.findall(rf"\bimport ([\w.]+) as {name}\b", source)
    parts = re.findall(rf"\bfrom ([\w.]+) import (?:[\w ,]+, )?(\w+) as {name}\b", source)
    return whole + [".".join(part) for part in parts]


def at_place(code: str, row: int, column: int) -> tuple[str, Function | None]:
    """Return the dotted name at a place in a file, and the function that it means, if it is one of
    a library, or made or decorated by one; or else the nearest such function in the line.

    **Arguments:** `row` and `column` count from 0.
    """
    names = [*re.finditer(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*", code.split("\n")[row])]
    here = next((one[0] for one in names if one.start() <= column <= one.end()), "")
    # Those before the place first: it may be among the arguments.
    near = sorted(names, key=lambda one: (one.start() > column, abs(one.start() - column)))
    for name in dict.fromkeys([here, *(one[0] for one in near)]):
        if name and (found := called_in(f"{name}(", Symptom(source=code))):
            return here, found[0]
    return here, None


def search(words: list[str]) -> list[tuple[str, str]]:
    """Return the functions whose names or needs contain all words, each with a sentence."""
    wanted = [word.lower() for word in words]
    return [
        (one.name, one.contract.needs.partition(". ")[0].removesuffix("."))
        for one in sorted(functions(), key=lambda one: one.name)
        if all(word in " ".join((*one.names, one.needs)).lower() for word in wanted)
    ]


def _fits(function: Function, symptom: Symptom) -> bool:
    return not function.beside or function.beside in f"{symptom.source}\n{symptom.through}"


@cache
def functions() -> tuple[Function, ...]:
    """Return all functions, from the cache on disk if they are there."""
    from tutor.explain.rule_cache import cached

    paths = sorted(FOLDER.glob("*.yaml"))
    return cached("contracts", paths, lambda tree: tree["functions"], tuple[Function, ...])


@cache
def _by_last_name() -> dict[str, list[tuple[str, Function]]]:
    """Return full names with their functions, by the last part of the name."""
    found: dict[str, list[tuple[str, Function]]] = {}
    for function in functions():
        for name in function.names:
            found.setdefault(_last(name), []).append((name, function))
    return found


@cache
def _methods() -> list[tuple[str, Function]]:
    """Return how methods are called with their functions, the longest text first."""
    found = [(text, function) for function in functions() for text in function.methods]
    return sorted(found, key=lambda pair: -len(pair[0]))
