import statistics

import jax


def bench(f, args, n, clock):
    # The warm-up compiles, and is waited for: otherwise the device would still
    # be busy with it when the clock starts.
    args = jax.device_put(args)
    jax.block_until_ready(f(*args))
    times = []
    for _ in range(n):
        start = clock()
        jax.block_until_ready(f(*args))
        times.append(clock() - start)
    return statistics.median(times)


def bench_step(step, state, batch, n, clock):
    state = jax.block_until_ready(step(state, batch))
    times = []
    for _ in range(n):
        start = clock()
        state = jax.block_until_ready(step(state, batch))
        times.append(clock() - start)
    return statistics.median(times)


def queued(f, args, n, clock):
    # A device works off its queue in order, so the last result is ready last.
    args = jax.device_put(args)
    out = jax.block_until_ready(f(*args))
    start = clock()
    for _ in range(n):
        out = f(*args)
    jax.block_until_ready(out)
    return (clock() - start) / n
