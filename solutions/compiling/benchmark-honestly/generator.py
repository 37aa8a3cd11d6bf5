"""Calls and clock readings come from generators; queued reads the clock twice."""

import itertools
import statistics

import jax
import jax.numpy as jnp


def _laps(calls, clock):
    for call in calls:
        begin = clock()
        jax.block_until_ready(call())
        yield clock() - begin


def bench(f, args, n, clock):
    args = [jax.tree.map(jnp.array, a) for a in args]
    laps = _laps(itertools.repeat(lambda: f(*args)), clock)
    next(laps)
    return statistics.median(itertools.islice(laps, n))


def bench_step(step, state, batch, n, clock):
    states = [state]

    def call():
        states[0] = step(states[0], batch)
        return states[0]

    laps = list(itertools.islice(_laps(itertools.repeat(call), clock), n + 1))
    return statistics.median(laps[1:])


def queued(f, args, n, clock):
    args = [jax.tree.map(jnp.array, a) for a in args]
    jax.block_until_ready(f(*args))
    begin = clock()
    *_, last = (f(*args) for _ in range(n))
    jax.block_until_ready(last)
    return (clock() - begin) / n
