"""Right answers pass every kind of check, over dtypes, ranks, empty arrays, trees, distributions,
and settings of JAX that a learner may change. With real sandboxes, PyTorch and JAX."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tutor.check import Check
from tutor.checks.bounds import Bounds
from tutor.checks.compiles import Compiles
from tutor.checks.distribution import Distribution
from tutor.checks.grad import Grad
from tutor.checks.learns import Learns
from tutor.checks.permutation import Permutation
from tutor.checks.prng import Prng
from tutor.checks.program import Program
from tutor.checks.pure import Pure
from tutor.checks.raises import Raises
from tutor.checks.same import Different, Same
from tutor.checks.shape import Shape
from tutor.checks.survives import with_survival
from tutor.checks.train_step import TrainStep
from tutor.checks.value import Value
from tutor.checks.vmap import Vmap
from tutor.engine.session import Session
from tutor.expressions import defined_names
from tutor.inputs.draws import parse
from tutor.lesson import Lesson, Limits
from tutor.pool.forks import Forks
from tutor.report import Report

SETTINGS = {
    "none": "",
    "key reuse": 'jax.config.update("jax_debug_key_reuse", True)',
    "rbg keys": 'jax.config.update("jax_default_prng_impl", "rbg")',
    "x64": 'jax.config.update("jax_enable_x64", True)',
    "NaN": 'jax.config.update("jax_debug_nans", True)',
    "strict promotion": 'jax.config.update("jax_numpy_dtype_promotion", "strict")',
    "no jit": 'jax.config.update("jax_disable_jit", True)',
    "precision": 'jax.config.update("jax_default_matmul_precision", "highest")',
    "leaks": 'jax.config.update("jax_check_tracer_leaks", True)',
    "rank promotion": 'jax.config.update("jax_numpy_rank_promotion", "raise")',
}
TOGETHER = "\n".join(
    SETTINGS[name] for name in ("key reuse", "rbg keys", "x64", "strict promotion", "precision")
)

JAX = """
import jax
import jax.numpy as jnp
{setting}

def twice(x):
    return x | x if x.dtype == bool else x + x

def tree(x):
    return {{"a": twice(x), "b": [x, (x, None)], "c": {{}}}}

def refuse(x):
    raise ValueError(f"refused: {{x.shape}}")

def energy(x):
    return (jnp.abs(x) ** 2).sum()

@jax.jit
def compiled(x):
    return twice(twice(x))

def backwards(x):
    return x[::-1]

def draw(key):
    a, b, c = jax.random.split(key, 3)
    return {{"normal": jax.random.normal(a, {shape}), "mask": jax.random.bernoulli(b, 0.9, {shape}),
            "heavy": jax.random.cauchy(c, {shape}),
            "table": jnp.sin(jnp.arange(40.0)).reshape(8, 5)}}

def start(w):
    return {{"w": w}}

def curve(w, x):
    losses = []
    for _ in range(3):
        loss, gradient = jax.value_and_grad(lambda w: ((x * w) ** 2).mean())(w)
        losses.append(loss)
        w = w - 0.125 * gradient
    return losses, {{"w": w}}

def advance(params, state, x):
    def loss(params):
        return ((x * params["w"]) ** 2).mean()

    value, gradient = jax.value_and_grad(loss)(params)
    state = jax.tree.map(lambda v, g: v + g, state, gradient)
    return jax.tree.map(lambda p, v: p - 0.125 * v, params, state), state, value
"""

TORCH = """
import torch

def twice(x):
    return x | x if x.dtype == torch.bool else x + x

def tree(x):
    return {"a": twice(x), "b": (x, [x, None]), "c": {}}

def energy(x):
    return (x.abs() ** 2).sum()

def compiled(x):
    return twice(twice(x))

def backwards(x):
    return x.flip(0)

def curve(w, x):
    losses = []
    for _ in range(3):
        w = w.detach().requires_grad_()
        losses.append(((x * w) ** 2).mean())
        losses[-1].backward()
        w = w - 0.125 * w.grad
    return losses

def steps(w, xs):
    seen, velocity = [], 0
    for x in xs:
        w = w.detach().requires_grad_()
        loss = ((x * w) ** 2).mean()
        loss.backward()
        velocity = velocity + w.grad
        w = (w - 0.125 * velocity).detach()
        seen.append(({"w": w}, loss.detach()))
    return seen
"""

FLOATS = ("float32", "float16", "bfloat16")
DTYPES = (*FLOATS, "complex64", "int32", "uint8", "bool")
SHAPES = st.lists(st.sampled_from([0, 1, 2, 3, 5]), max_size=4).map(tuple)


def drawn(dtype: str, shape: tuple[int, ...], batch: int | None = None) -> str:
    axes = ", ".join(map(str, shape if batch is None else (batch, *shape)))
    if dtype in ("int32", "uint8"):
        return f'integers(0, 9, {axes + ", " if axes else ""}dtype="{dtype}")'
    call = "bernoulli" if dtype == "bool" else "normal"
    return f'{call}({axes + ", " if axes else ""}dtype="{dtype}")'


def checks_of(
    dtype: str, shape: tuple[int, ...], number: int
) -> tuple[dict[str, str], list[Check]]:
    """Return inputs, and every check that they allow."""
    x, rows, key = f"x{number}", f"rows{number}", f"key{number}"
    inputs = {x: drawn(dtype, shape), rows: drawn(dtype, shape, 3), key: "key()"}
    found: list[Check] = [
        Value(value=f"tree({x})"),
        Value(value=f"twice({rows})"),
        Shape(shape=f"tree({x})"),
        Shape(shape=f"[{x}, twice({x})]", leaves=(_spec(dtype, shape), _spec(dtype, shape))),
        Vmap(vmap="twice", args=(rows,), expect=f"twice({rows})"),
        Pure(pure=f"tree({x})"),
        Compiles(compiles=f"compiled({x})", calls=2),
        Program(program=f"compiled({x})", lacks=("scan",), steady={x: x}),
        Raises(raises=f"refuse({x})", error="ValueError", says="REFUSED"),
        Same(same=(f"compiled({x})", f"twice(twice({x}))")),
        Permutation(permutation=f"backwards({rows})", expect=rows, moved=False),
        Prng(prng=f"draw({key})", key=key, independent=("leaves", "rows")),
        Different(different=(f"draw({key})", f"draw(jax.random.fold_in({key}, 1))")),
    ]
    if dtype in FLOATS or dtype == "complex64":
        found.append(Grad(grad="energy", at=(x,)))
    if dtype in FLOATS and all(shape):
        found.append(Learns(learns=f"curve({x}, {rows})", below="reference + 1"))
        found.append(
            TrainStep(
                train_step=f"advance(params, state, {rows}[step])",
                start={
                    "params": f"start({x})",
                    "state": f"jax.tree.map(jnp.zeros_like, start({x}))",
                },
                finish="params",
                steps=3,
                expect=f"steps({x}, {rows})",
            )
        )
    if dtype != "complex64" and 0 not in shape:
        found.append(
            Bounds(bounds=f"jnp.abs(tree({x})['a']) if {x}.dtype != bool else {x}", least=0)
        )
    return inputs, [_renamed(one, f"{one.kind} {i} of {number}") for i, one in enumerate(found)]


def _spec(dtype: str, shape: tuple[int, ...]) -> str:
    return f"{dtype}[{', '.join(map(str, shape))}]"


def _renamed(check: Check, name: str) -> Check:
    return msgspec.structs.replace(check, name=name)


def lesson_of(arrays: list[tuple[str, tuple[int, ...]]], shape: tuple[int, ...]) -> Lesson:
    inputs: dict[str, str] = {}
    checks: list[Check] = [
        _renamed(Distribution(distribution="draw(key0)['normal']", is_="normal(0, 1)"), "normal"),
    ]
    for number, (dtype, axes) in enumerate(arrays):
        more, found = checks_of(dtype, axes, number)
        inputs |= more
        checks += found
    code = JAX.format(setting="", shape=shape)
    lesson = Lesson(
        id="right", title="Right", track="checks", minutes=1, brief="-", torch=TORCH,
        starter=code, hints=("-",), inputs={name: parse(text) for name, text in inputs.items()},
        checks=tuple(checks), survives=("jit", "grad", "vmap"),
        limits=Limits(seconds=120),
    )  # fmt: skip
    return with_survival(lesson, defined_names(code))


def told(report: Report) -> str:
    wrong = [c for c in report.checks if c.status != "pass"]
    fault = f"{report.fault.message}\n" if report.fault else ""
    return fault + "\n".join(f"{c.name}: {c.status}: {c.message}" for c in wrong)


def judged(lesson: Lesson, code: str, forks: Forks) -> None:
    with Session(lesson, code, sandboxes=forks) as session:
        report = session.check(0)
    assert report.passed, told(report)


LONG = settings(
    max_examples=30,
    deadline=None,
    phases=[Phase.generate],  # shrinking would take minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@settings(LONG, max_examples=2)
@given(data=st.data())
def test_right_answers_pass_over_dtypes_ranks_and_trees(forks: Forks, data: st.DataObject):
    over_dtypes_ranks_and_trees(forks, data)


@pytest.mark.proof
@LONG
@given(data=st.data())
def test_right_answers_pass_over_many_more_examples(forks: Forks, data: st.DataObject):
    over_dtypes_ranks_and_trees(forks, data)


def over_dtypes_ranks_and_trees(forks: Forks, data: st.DataObject) -> None:
    arrays = [(dtype, data.draw(SHAPES)) for dtype in data.draw(st.permutations(DTYPES))[:3]]
    shape = data.draw(st.sampled_from([(8, 32), (16, 16), (3,), (4, 4, 20), (64, 64)]))
    judged(lesson_of(arrays, shape), JAX.format(setting="", shape=shape), forks)


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(TOGETHER, id="together"),
        *(pytest.param(SETTINGS[name], id=name, marks=pytest.mark.proof) for name in SETTINGS),
    ],
)
def test_right_answers_pass_under_the_settings_of_jax(setting: str, forks: Forks):
    arrays: list[Any] = [("float32", (2, 3)), ("complex64", (3,)), ("int32", ())]
    lesson = lesson_of(arrays, (8, 32))
    judged(lesson, JAX.format(setting=setting, shape=(8, 32)), forks)
