"""Three calls to warm up, leaves waited for one by one, the median by sorting."""

import jax


def _wait(tree):
    for leaf in jax.tree.leaves(tree):
        leaf.block_until_ready()
    return tree


def _middle(times):
    times = sorted(times)
    half = len(times) // 2
    return (times[half] + times[~half]) / 2


def bench(f, args, n, clock):
    args = _wait(jax.device_put(args))
    for _ in range(3):
        _wait(f(*args))
    stamps = []
    for _ in range(n):
        begin = clock()
        _wait(f(*args))
        end = clock()
        stamps.append((begin, end))
    return _middle([end - begin for begin, end in stamps])


def bench_step(step, state, batch, n, clock):
    state, batch = jax.device_put((state, batch))
    for _ in range(2):
        state = _wait(step(state, batch))
    times = []
    for _ in range(n):
        begin = clock()
        state = _wait(step(state, batch))
        times.append(clock() - begin)
    return _middle(times)


def queued(f, args, n, clock):
    args = jax.device_put(args)
    for _ in range(3):
        out = _wait(f(*args))
    begin = clock()
    for _ in range(n):
        out = f(*args)
    _wait(out)
    return (clock() - begin) / n
