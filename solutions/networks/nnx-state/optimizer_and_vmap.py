import optax
from flax import nnx

counts = 2


class Net(nnx.Module):
    def __init__(self, d, hidden, k, rate, *, rngs):
        self.rate = rate
        self.first = nnx.Linear(d, hidden, rngs=rngs)
        self.norm = nnx.BatchNorm(hidden, momentum=0.9, rngs=rngs)
        self.drop = nnx.Dropout(rate, rngs=rngs)
        self.last = nnx.Linear(hidden, k, rngs=rngs)

    def __call__(self, x):
        x = self.norm(self.first(x))
        return self.last(self.drop(nnx.relu(x)))


def loss_fn(model, x, y):
    return optax.squared_error(model(x), y).mean()


@nnx.jit
def train_step(model, x, y, lr):
    tx = optax.chain(optax.add_decayed_weights(0.1), optax.sgd(lr))
    optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def predict(model, x):
    model.eval()
    out = model(x)
    model.train()
    return out


def sample(model, x, n):
    noisy = nnx.view(model, deterministic=False, use_running_average=True)
    axes = nnx.StateAxes({nnx.RngState: 0, ...: None})

    @nnx.split_rngs(splits=n)
    @nnx.vmap(in_axes=(axes, None))
    def outputs(model, x):
        return model(x)

    return outputs(noisy, x)
