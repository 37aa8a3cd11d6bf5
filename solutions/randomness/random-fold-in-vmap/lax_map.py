"""`lax.map`, one row after the other, and `fori_loop` over the steps."""

import jax


def each_row(f, key, xs):
    keys = jax.random.split(key, xs.shape[0])
    return jax.lax.map(lambda pair: f(*pair), (keys, xs))


def run(f, key, state, steps):
    def body(i, state):
        return f(jax.random.fold_in(key, steps[i]), state)

    return jax.lax.fori_loop(0, len(steps), body, state)


def augment(f, key, epoch, ids, xs):
    def one(pair):
        i, x = pair
        step_key = jax.random.fold_in(key, epoch)
        return f(jax.random.fold_in(step_key, i), x)

    return jax.lax.map(one, (ids, xs))
