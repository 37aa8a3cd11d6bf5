"""One helper times a thunk; the step keeps its state in a closure."""

import jax
import numpy as np


def _median(call, n, clock):
    def once():
        start = clock()
        jax.block_until_ready(call())
        return clock() - start

    once()
    return float(np.median([once() for _ in range(n)]))


def bench(f, args, n, clock):
    args = jax.tree.map(jax.numpy.asarray, args)
    return _median(lambda: f(*args), n, clock)


def bench_step(step, state, batch, n, clock):
    def call():
        nonlocal state
        state = step(state, batch)
        return state

    return _median(call, n, clock)


def queued(f, args, n, clock):
    args = jax.tree.map(jax.numpy.asarray, args)
    jax.block_until_ready(f(*args))
    start = clock()
    jax.block_until_ready([f(*args) for _ in range(n)])
    return (clock() - start) / n
