"""`learns`: right answers in several styles pass, wrong ones are told why."""

import re

import msgspec
import numpy as np
import pytest

from tests.cases import all_cases
from tutor.checks.compare import compare
from tutor.checks.learns import Learns
from tutor.engine.session import Session
from tutor.inputs.draws import parse
from tutor.lesson import Lesson, Limits
from tutor.pool.forks import Forks
from tutor.report import CheckResult
from tutor.tree import Leaf

STEPS = 12
TORCH = f"""
import torch
import torch.nn.functional as F

def train(params, x, y, lr, batch):
    w, b = (params[name].clone().requires_grad_() for name in ("w", "b"))
    optimizer = torch.optim.SGD([w, b], lr=lr, momentum=0.9)
    losses = []
    for step in range({STEPS}):
        start = step * batch % len(x)
        rows = slice(start, start + batch)
        loss = F.cross_entropy(x[rows] @ w + b, y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {{"w": w.detach(), "b": b.detach()}}

def fit(w, x, y, lr):
    w, losses = w.clone().requires_grad_(), []
    for _ in range({STEPS}):
        loss = F.mse_loss(x @ w, y)
        (grad,) = torch.autograd.grad(loss, w)
        w = (w - lr * grad).detach().requires_grad_()
        losses.append(loss.detach())
    return torch.stack(losses)
"""
HEAD = f"""import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = {STEPS}


def rows_of(step, x, batch):
    start = step * batch % len(x)
    return slice(start, start + batch)


def loss_fn(params, x, y):
    logits = x @ params["w"] + params["b"]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()


def scores(params, x):
    return x @ params["w"] + params["b"]

"""

WHOLE = Learns(
    name="whole", learns="train(params, x, y, lr, 120)", data="blobs(150, 2, classes=3)",
    held_out=30, predict="scores(trained, x)", accuracy=0.8, below="reference * 1.02",
)  # fmt: skip
PARTS = msgspec.structs.replace(WHOLE, name="parts", learns="train(params, x, y, lr, 40)")
CURVE = Learns(name="curve", learns="fit(v, z, t, lr)")
BATCHES = (WHOLE, PARTS)

BY_HAND = """
def train(params, x, y, lr, batch):
    velocity = jax.tree.map(jnp.zeros_like, params)
    losses = []
    for step in range(STEPS):
        rows = rows_of(step, x, batch)
        loss, grads = jax.value_and_grad(loss_fn)(params, x[rows], y[rows])
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        params = jax.tree.map(lambda p, v: p - lr * v, params, velocity)
        losses.append(loss)
    return losses, params
"""

# The list of styles and of mistakes, with their words, is older than the check.
RIGHT: dict[str, str] = {
    "a loop in Python, momentum by hand": BY_HAND,
    "optax, a list of floats": """
def train(params, x, y, lr, batch):
    tx = optax.sgd(lr, momentum=0.9)
    state = tx.init(params)
    losses = []
    for step in range(STEPS):
        rows = rows_of(step, x, batch)
        loss, grads = jax.value_and_grad(loss_fn)(params, x[rows], y[rows])
        updates, state = tx.update(grads, state)
        params = optax.apply_updates(params, updates)
        losses.append(float(loss))
    return losses, params
""",
    "a compiled step, a tuple of losses": """
@jax.jit
def step_fn(params, velocity, x, y, lr):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
    return jax.tree.map(lambda p, v: p - lr * v, params, velocity), velocity, loss

def train(params, x, y, lr, batch):
    velocity, losses = jax.tree.map(jnp.zeros_like, params), ()
    for step in range(STEPS):
        rows = rows_of(step, x, batch)
        params, velocity, loss = step_fn(params, velocity, x[rows], y[rows], lr)
        losses += (loss,)
    return losses, params
""",
    "scan over batches": """
def train(params, x, y, lr, batch):
    count = len(x) // batch
    order = jnp.arange(STEPS) % count
    xs, ys = x.reshape(count, batch, 2), y.reshape(count, batch)

    def step(carry, k):
        params, velocity = carry
        loss, grads = jax.value_and_grad(loss_fn)(params, xs[k], ys[k])
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        return (jax.tree.map(lambda p, v: p - lr * v, params, velocity), velocity), loss

    start = params, jax.tree.map(jnp.zeros_like, params)
    (params, _), losses = jax.lax.scan(step, start, order)
    return losses, params
""",
    "fori_loop, all compiled, an array that is filled": """
import functools

@functools.partial(jax.jit, static_argnames="batch")
def train(params, x, y, lr, batch):
    def body(step, carry):
        params, velocity, losses = carry
        start = step * batch % len(x)
        xs = jax.lax.dynamic_slice_in_dim(x, start, batch)
        ys = jax.lax.dynamic_slice_in_dim(y, start, batch)
        loss, grads = jax.value_and_grad(loss_fn)(params, xs, ys)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        params = jax.tree.map(lambda p, v: p - lr * v, params, velocity)
        return params, velocity, losses.at[step].set(loss)

    start = params, jax.tree.map(jnp.zeros_like, params), jnp.zeros(STEPS)
    params, _, losses = jax.lax.fori_loop(0, STEPS, body, start)
    return losses, params
""",
    "gradients by hand, NumPy losses": """
def train(params, x, y, lr, batch):
    w, b = params["w"], params["b"]
    dw, db, losses = 0.0, 0.0, []
    for step in range(STEPS):
        xs, ys = x[rows_of(step, x, batch)], y[rows_of(step, x, batch)]
        p = jax.nn.softmax(xs @ w + b)
        losses.append(-jnp.log(p[jnp.arange(len(ys)), ys]).mean())
        error = (p - jax.nn.one_hot(ys, 3)) / len(ys)
        dw, db = 0.9 * dw + xs.T @ error, 0.9 * db + error.sum(0)
        w, b = w - lr * dw, b - lr * db
    return np.array(losses), {"w": w, "b": b}
""",
    "vjp, parameters as a tuple, a list for a pair": """
def scores(params, x):
    return x @ params[0] + params[1]

def train(params, x, y, lr, batch):
    params = params["w"], params["b"]
    velocity, losses = (0.0, 0.0), []
    for step in range(STEPS):
        rows = rows_of(step, x, batch)
        def f(w, b):
            return optax.softmax_cross_entropy_with_integer_labels(x[rows] @ w + b, y[rows]).mean()
        loss, pull = jax.vjp(f, *params)
        grads = pull(jnp.ones(()))
        velocity = tuple(0.9 * v + g for v, g in zip(velocity, grads))
        params = tuple(p - lr * v for p, v in zip(params, velocity))
        losses.append(loss)
    return [jnp.stack(losses), params]
""",
    "grad apart from the loss, parameters as a list, labels for scores": """
def scores(params, x):
    return (x @ params[0] + params[1]).argmax(-1)

def train(params, x, y, lr, batch):
    p = [params["w"], params["b"]]
    f = lambda p, x, y: loss_fn({"w": p[0], "b": p[1]}, x, y)
    v, losses = [jnp.zeros_like(q) for q in p], []
    for step in range(STEPS):
        rows = rows_of(step, x, batch)
        losses += [f(p, x[rows], y[rows])]
        v = [0.9 * a + g for a, g in zip(v, jax.grad(f)(p, x[rows], y[rows]))]
        p = [a - lr * b for a, b in zip(p, v)]
    return tuple([losses, p])
""",
    "linen and TrainState": """
import flax.linen as nn
from flax.training.train_state import TrainState

model = nn.Dense(3)

def scores(state, x):
    return state.apply_fn({"params": state.params}, x)

@jax.jit
def one(state, x, y):
    def f(params):
        logits = state.apply_fn({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
    loss, grads = jax.value_and_grad(f)(state.params)
    return state.apply_gradients(grads=grads), loss

def train(params, x, y, lr, batch):
    state = TrainState.create(
        apply_fn=model.apply, params={"kernel": params["w"], "bias": params["b"]},
        tx=optax.sgd(lr, momentum=0.9),
    )
    losses = []
    for step in range(STEPS):
        rows = rows_of(step, x, batch)
        state, loss = one(state, x[rows], y[rows])
        losses.append(loss)
    return jnp.array(losses), state
""",
    "nnx": """
from flax import nnx

def scores(model, x):
    return model(x)

def train(params, x, y, lr, batch):
    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    model.kernel[...], model.bias[...] = params["w"], params["b"]
    optimizer = nnx.Optimizer(model, optax.sgd(lr, momentum=0.9), wrt=nnx.Param)

    @nnx.jit
    def one(model, optimizer, x, y):
        def f(model):
            return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()
        loss, grads = nnx.value_and_grad(f)(model)
        optimizer.update(model, grads)
        return loss

    losses = []
    for step in range(STEPS):
        rows = rows_of(step, x, batch)
        losses.append(one(model, optimizer, x[rows], y[rows]))
    return losses, model
""",
    "a named tuple, donated buffers, x64": """
import functools
from typing import NamedTuple

jax.config.update("jax_enable_x64", True)

class Result(NamedTuple):
    losses: object
    trained: object

step_fn = jax.jit(jax.value_and_grad(loss_fn))

@functools.partial(jax.jit, donate_argnums=0)
def update(params, velocity, lr):
    return jax.tree.map(lambda p, v: p - lr * v, params, velocity)

def train(params, x, y, lr, batch):
    params = jax.tree.map(jnp.copy, params)
    velocity, losses = jax.tree.map(jnp.zeros_like, params), []
    for step in range(STEPS):
        rows = rows_of(step, x, batch)
        loss, grads = step_fn(params, x[rows], y[rows])
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
        params = update(params, velocity, lr)
        losses.append(loss.item())
    return Result(losses, params)
""",
}  # fmt: skip

CURVES: dict[str, str] = {
    "an array": """
def fit(w, x, y, lr):
    f = lambda w: ((x @ w - y) ** 2).mean()
    def step(w, _):
        loss, grad = jax.value_and_grad(f)(w)
        return w - lr * grad, loss
    return jax.lax.scan(step, w, length=STEPS)[1]
""",
    "a list": """
def fit(w, x, y, lr):
    losses = []
    for _ in range(STEPS):
        error = x @ w - y
        losses.append(jnp.mean(error**2))
        w = w - lr * 2 * x.T @ error / error.size
    return losses
""",
    "a pair": """
def fit(w, x, y, lr):
    tx = optax.sgd(lr)
    state, losses = tx.init(w), []
    for _ in range(STEPS):
        loss, grad = jax.value_and_grad(lambda w: optax.squared_error(x @ w, y).mean())(w)
        updates, state = tx.update(grad, state, w)
        w = optax.apply_updates(w, updates)
        losses.append(loss)
    return losses, w
""",
}

WRONG: dict[str, tuple[Learns, str, tuple[str, ...]]] = {
    "never updates": (
        WHOLE,
        BY_HAND.replace("params = jax.tree.map(lambda p, v", "_ = jax.tree.map(lambda p, v"),
        ("same at every step", "are dropped"),
    ),
    "never updates, in batches": (
        PARTS,
        BY_HAND.replace("params = jax.tree.map(lambda p, v", "_ = jax.tree.map(lambda p, v"),
        ("step 1", "first update"),
    ),
    "another learning rate": (
        WHOLE,
        BY_HAND.replace("p - lr * v", "p - 0.1 * lr * v"),
        ("step 1", "first update", "learning rate"),
    ),
    "up the hill": (
        WHOLE, BY_HAND.replace("p - lr * v", "p + lr * v"), ("step 1", "rises", "sign"),
    ),
    "momentum starts again at each step": (
        WHOLE, BY_HAND.replace("0.9 * v + g", "0.9 * 0 * v + g"), ("step 2", "state", "momentum"),
    ),
    "the state of optax is dropped": (
        PARTS,
        RIGHT["optax, a list of floats"].replace("updates, state =", "updates, _ ="),
        ("step 2", "optimizer's state"),
    ),
    "the loss after the update": (
        WHOLE,
        BY_HAND.replace("append(loss)", "append(loss_fn(params, x[rows], y[rows]))"),
        ("step 0", "after the update"),
    ),
    "a sum instead of a mean": (
        WHOLE,
        "_loss = loss_fn\ndef loss_fn(p, x, y): return _loss(p, x, y) * len(y)\n" + BY_HAND,
        ("step 0", "120 times as much"),
    ),
    "the gradient of the sum": (
        WHOLE,
        BY_HAND.replace("0.9 * v + g, velocity", "0.9 * v + 120 * g, velocity"),
        ("step 1", "first update"),
    ),
    "another loss": (
        WHOLE,
        "def loss_fn(p, x, y): return ((scores(p, x) - jax.nn.one_hot(y, 3)) ** 2).mean()\n"
        + BY_HAND,
        ("step 0", "before any update", "loss"),
    ),
    "other parameters at the start": (
        WHOLE,
        BY_HAND.replace("losses = []", 'losses = []; params = params | {"w": params["w"] * 2}'),
        ("step 0", "initial parameters"),
    ),
    "shuffled from the second epoch": (
        PARTS,
        BY_HAND.replace(
            "rows = rows_of(step, x, batch)",
            "rows = rows_of(step if step < 3 else -1 - step, x, batch)",
        ),
        ("step 3", "after 2 updates", "order of the batches"),
    ),
    "shuffled from the start": (
        PARTS,
        BY_HAND.replace("rows_of(step,", "rows_of(-1 - step,"),
        ("step 0", "first batch"),
    ),
    "NaN from the start": (
        WHOLE, "def loss_fn(p, x, y): return jnp.log(-1.0) + p['w'].sum()\n" + BY_HAND,
        ("step 0", "NaN", "before any update"),
    ),
    "NaN later": (
        WHOLE, BY_HAND.replace("append(loss)", "append(loss if step < 9 else loss / 0 * 0)"),
        ("step 9", "NaN"),
    ),
    "one loss for each epoch": (
        PARTS, BY_HAND.replace("return losses, params", "return losses[2::3], params"),
        ("4 losses", "12"),
    ),
    "only the last loss": (
        WHOLE, BY_HAND.replace("return losses, params", "return loss, params"),
        ("one loss, expected 12",),
    ),
    "only the losses": (
        WHOLE, BY_HAND.replace("return losses, params", "return losses"),
        ("(losses, trained)",),
    ),
    "the pair turned around": (
        WHOLE, BY_HAND.replace("return losses, params", "return params, losses"),
        ("losses first",),
    ),
    "losses in a column": (
        WHOLE,
        BY_HAND.replace("return losses, params", "return jnp.array(losses)[:, None], params"),
        ("(12, 1)", "(12,)"),
    ),
    "the parameters before training": (
        WHOLE,
        BY_HAND.replace("losses = []", "losses, first = [], params").replace(
            "return losses, params", "return losses, jax.tree.map(jnp.zeros_like, first)"),
        ("accuracy", "losses are right", "trained"),
    ),
    "training stops early": (
        WHOLE, BY_HAND.replace("p - lr * v", "p - lr * v * (step < 7)"),
        ("last loss", "expected at most", "step 8"),
    ),
    "scores for the training rows": (
        WHOLE, "X = []\ndef scores(p, x): return X[0] @ p['w']\n"
        + BY_HAND.replace("losses = []", "losses = []; X.append(x)"),
        ("predictions of shape (120, 3) for 30 examples",),
    ),
}  # fmt: skip


MODULE = """
def made(code):
    names = dict(globals())
    exec(code, names)
    return names

"""
INPUTS = {
    "params": {"w": parse("normal(2, 3, scale=0.1)"), "b": parse("zeros(3)")},
    "lr": parse("float(0.05, 0.2)"),
    "v": parse("normal(4)"),
    "z": parse("normal(30, 4)"),
    "t": parse("normal(30)"),
}


def checked(asked: dict[str, tuple[Learns, str]], forks: Forks) -> dict[str, CheckResult]:
    """Check several answers in one sandbox, each in a namespace of its own."""
    checks = tuple(
        msgspec.structs.replace(
            check,
            name=name,
            learns=f"answers[{name!r}][{check.learns[: check.learns.index('(')]!r}]"
            + check.learns[check.learns.index("(") :],
            expect=check.learns,
            predict=check.predict and f"answers[{name!r}]['scores'](trained, x)",
        )
        for name, (check, _) in asked.items()
    )
    lesson = Lesson(
        id="learns", title="Learns", track="checks", minutes=1, brief="-", torch=TORCH,
        starter=HEAD, hints=("-",), checks=checks, limits=Limits(seconds=300), inputs=INPUTS,
    )  # fmt: skip
    codes = {name: code for name, (_, code) in asked.items()}
    module = f"{HEAD}{MODULE}answers = {{k: made(v) for k, v in {codes!r}.items()}}\n"
    with Session(lesson, module, sandboxes=forks) as session:
        report = session.check()
    assert report.fault is None, report.fault
    return {result.name: result for result in report.checks}


def test_right_answers_pass(forks: Forks):
    answers = {f"{one.name}: {style}": (one, RIGHT[style]) for style in RIGHT for one in BATCHES}
    apart = {name: answer for name, answer in answers.items() if "x64" in answer[1]}
    together = {name: answers[name] for name in answers.keys() - apart.keys()}
    results = checked(together, forks) | checked(apart, forks)
    with all_cases() as case:
        for name in answers:
            with case(name):
                result = results[name]
                assert result.status == "pass", result.text
                (note,) = result.notes
                words = "12 losses, from .* to .*; accuracy .* on 30 held-out blobs"
                assert re.fullmatch(words, note)
                assert result.curves is not None
                assert result.curves.steps == tuple(range(12))
                assert result.curves.losses == pytest.approx(result.curves.reference, rel=1e-3)


def test_a_curve_alone_passes(forks: Forks):
    results = checked({style: (CURVE, code) for style, code in CURVES.items()}, forks)
    assert not [one.text for one in results.values() if one.status != "pass"]


def test_wrong_answers_are_told(forks: Forks):
    results = checked({name: (check, code) for name, (check, code, _) in WRONG.items()}, forks)
    with all_cases() as case:
        for name, (*_, words) in WRONG.items():
            with case(name):
                result = results[name]
                assert result.status == "fail", result.text
                assert not [word for word in words if word not in result.text], result.text


def test_only_the_first_losses_of_pytorch_are_compared_with_what_was_recorded():
    losses = np.linspace(2, 1, STEPS, dtype=np.float32)
    later = np.where(np.arange(STEPS) < CURVE.first, losses, 7).astype(np.float32)
    compared = CURVE.compared(Leaf(losses, "torch.Tensor"))
    assert compare(compared, CURVE.compared(Leaf(later, "torch.Tensor"))) is None
    sooner = Leaf(losses + np.float32(0.1), "torch.Tensor")
    assert compare(compared, CURVE.compared(sooner)) is not None
