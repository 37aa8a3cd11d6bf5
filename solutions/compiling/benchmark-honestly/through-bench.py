"""bench_step is bench of a function that remembers its state."""

import statistics

import jax
from jax import block_until_ready, device_put


class _Remembers:
    def __init__(self, step, state):
        self.step, self.state = step, state

    def __call__(self, batch):
        self.state = self.step(self.state, batch)
        return self.state


def bench(f, args, n, clock, *, warm_ups=2):
    args = device_put(args)
    block_until_ready([f(*args) for _ in range(warm_ups - 1)])
    block_until_ready(f(*args))
    times = []
    while len(times) < n:
        times.append(-clock())
        block_until_ready(f(*args))
        times[-1] += clock()
    return statistics.median(times)


def bench_step(step, state, batch, n, clock):
    return bench(_Remembers(step, state), (batch,), n, clock, warm_ups=1)


def queued(f, args, n, clock):
    args = device_put(args)
    block_until_ready(f(*args))
    before = clock()
    results = [f(*args) for _ in range(n)]
    for result in results:
        jax.tree.map(block_until_ready, result)
    return (clock() - before) / n
