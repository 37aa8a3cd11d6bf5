"""A context manager that stops when everything handed to it is ready."""

import statistics

import jax


class Stopwatch:
    def __init__(self, clock):
        self.clock, self.pending, self.seconds = clock, [], None

    def __enter__(self):
        self.begin = self.clock()
        return self

    def watch(self, tree):
        self.pending = tree
        return tree

    def __exit__(self, *_):
        jax.tree.map(lambda a: a.block_until_ready(), self.pending)
        self.seconds = self.clock() - self.begin


def _call(f, args, clock):
    with Stopwatch(clock) as stopwatch:
        out = stopwatch.watch(f(*args))
    return out, stopwatch.seconds


def bench(f, args, n, clock):
    args = jax.device_put(args)
    times = [_call(f, args, clock)[1] for _ in range(n + 1)]
    return statistics.median(times[1:])


def bench_step(step, state, batch, n, clock):
    times = []
    for _ in range(n + 1):
        state, seconds = _call(step, (state, batch), clock)
        times.append(seconds)
    return statistics.median(times[1:])


def queued(f, args, n, clock):
    args = jax.device_put(args)
    _call(f, args, clock)
    with Stopwatch(clock) as stopwatch:
        for _ in range(n):
            stopwatch.watch(f(*args))
    return stopwatch.seconds / n
