import jax
import jax.numpy as jnp
import optax


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


tx = optax.scale_by_schedule(optax.linear_schedule(0.25, 1.0, 3))


def start(w):
    return {"w": w, "optimizer": tx.init(w)}


@jax.jit
def step(state, x, y, lr):
    grad = jax.grad(loss)(state["w"], x, y)
    update, optimizer = tx.update(grad, state["optimizer"])
    return {"w": state["w"] - lr * update, "optimizer": optimizer}


def weights(state):
    return state["w"]
