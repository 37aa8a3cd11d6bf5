"""An NNX trainer owns model, optimizer and schedule; a run is its state, beside one graphdef."""

import functools

import jax
import jax.numpy as jnp
import optax
from flax import nnx

FEATURES, WIDTH, DEPTH, CLASSES = 64, 48, 2, 10
BATCH = 96
PEAK_RATE, WARM_UP, DECAY = 4e-3, 10, 0.1
MAX_NORM, SMOOTHING = 1.0, 0.1


class BatchNorm(nnx.BatchNorm):
    """Flax's, but the share of the batch in the running variance is made unbiased."""

    def __init__(self, width, rngs):
        super().__init__(width, momentum=0.9, epsilon=1e-5, rngs=rngs)

    def __call__(self, x):
        kept = self.momentum * self.var[...]
        out = super().__call__(x)
        if not self.use_running_average:
            n = x.shape[0]
            self.var[...] = kept + (self.var[...] - kept) * (n / (n - 1))
        return out


class Block(nnx.Module):
    def __init__(self, width, rngs):
        self.norm = BatchNorm(width, rngs)
        self.up = nnx.Linear(width, 2 * width, rngs=rngs)
        self.down = nnx.Linear(2 * width, width, use_bias=False, rngs=rngs)
        self.scale = nnx.Param(jnp.full((width,), 0.1))

    def __call__(self, x):
        branch = self.down(nnx.gelu(self.up(self.norm(x)), approximate=False))
        return x + self.scale[...] * branch


class Net(nnx.Module):
    def __init__(self, rngs):
        self.stem = nnx.Linear(FEATURES, WIDTH, rngs=rngs)
        self.blocks = nnx.List([Block(WIDTH, rngs) for _ in range(DEPTH)])
        self.norm = nnx.LayerNorm(WIDTH, epsilon=1e-5, rngs=rngs)
        self.head = nnx.Linear(WIDTH, CLASSES, rngs=rngs)

    def __call__(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def matrices(params):
    return jax.tree.map(lambda p: p.ndim == 2, params)


def training_loss(model, x, y):
    labels = optax.smooth_labels(jax.nn.one_hot(y, CLASSES), SMOOTHING)
    return optax.softmax_cross_entropy(model(x), labels).mean()


class Trainer(nnx.Module):
    def __init__(self):
        self.model = Net(nnx.Rngs(0))
        adamw = optax.inject_hyperparams(optax.adamw, static_args=("mask",))
        tx = optax.chain(
            optax.clip_by_global_norm(MAX_NORM),
            adamw(learning_rate=0.0, weight_decay=DECAY, mask=matrices),
        )
        self.optimizer = nnx.Optimizer(self.model, tx, wrt=nnx.Param)
        self.count = nnx.Variable(jnp.int32(0))
        self.steps = nnx.Variable(jnp.int32(0))

    def rate(self):
        step, steps = self.count[...], self.steps[...]
        done = jnp.clip((step - WARM_UP) / jnp.maximum(steps - WARM_UP, 1), 0, 1)
        cosine = jnp.cos(0.5 * jnp.pi * done) ** 2
        return PEAK_RATE * jnp.where(step < WARM_UP, (step + 1) / WARM_UP, cosine)

    def step(self, x, y):
        self.model.train()
        loss, grads = nnx.value_and_grad(training_loss)(self.model, x, y)
        self.optimizer.opt_state[1].hyperparams["learning_rate"][...] = self.rate()
        self.optimizer.update(self.model, grads)
        self.count[...] += 1
        return loss


graphdef, fresh = nnx.split(Trainer())


def torch_names(state):
    """PyTorch's names for the variables of the model, with their arrays as they lie there."""
    names = {}
    for path, variable in nnx.to_flat_state(state):
        *owner, leaf = map(str, path)
        array = variable[...]
        if leaf == "kernel":
            leaf, array = "weight", array.T
        elif leaf in ("mean", "var"):
            leaf = f"running_{leaf}"
        elif leaf == "scale" and owner[-1] == "norm":
            leaf = "weight"
        names[".".join([*owner, leaf])] = array
    return names


def owner_of(model, name):
    for part in name.split("."):
        model = model[int(part)] if part.isdigit() else getattr(model, part)
    return model


def begin(weights, steps):
    trainer = Trainer()
    for name, array in weights.items():
        owner, leaf = name.rsplit(".", 1)
        module = owner_of(trainer.model, owner)
        if isinstance(module, nnx.Linear) and leaf == "weight":
            leaf, array = "kernel", array.T
        elif leaf == "weight":
            leaf = "scale"
        getattr(module, leaf.removeprefix("running_"))[...] = array
    trainer.steps[...] = jnp.int32(steps)
    return nnx.state(trainer)


def export(run):
    return torch_names(run["model"])


def pure(method):
    """A function of a trainer -> a compiled one of a run, which gives the new run too."""

    @jax.jit
    def compiled(run, *args):
        trainer = nnx.merge(graphdef, run)
        result = method(trainer, *args)
        return nnx.state(trainer), result

    return compiled


@pure
def scores(trainer, x):
    trainer.model.eval()
    return trainer.model(x)


@pure
def grads(trainer, x, y):
    trainer.model.train()
    return nnx.grad(training_loss)(trainer.model, x, y)


step = pure(Trainer.step)


def logits(run, x):
    return scores(run, x)[1]


def gradients(run, x, y):
    return torch_names(grads(run, x, y)[1])


def fit(run, x, y, valid_x, valid_y, orders):
    def epoch(run, order):
        losses = []
        for start in range(0, order.shape[0], BATCH):
            rows = order[start : start + BATCH]
            run, loss = step(run, jnp.take(x, rows, axis=0), jnp.take(y, rows))
            losses.append(loss)
        log_p = jax.nn.log_softmax(logits(run, valid_x))
        return run, losses, -jnp.take_along_axis(log_p, valid_y[:, None], 1).mean()

    def advance(history, order):
        run, losses, valid = epoch(history[-1][0], order)
        return [*history, (run, losses, valid)]

    history = functools.reduce(advance, orders, [(run, [], jnp.inf)])[1:]
    best, _, _ = min(history, key=lambda entry: float(entry[2]))
    losses = [loss for _, losses, _ in history for loss in losses]
    return best, jnp.array(losses), jnp.array([valid for _, _, valid in history])
