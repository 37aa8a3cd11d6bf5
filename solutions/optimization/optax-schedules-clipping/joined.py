"""Two schedules joined, the chain written out link by link, the count by its position."""

import optax

clipped_last = [-0.6, -0.8]


def make_schedule(peak, warmup, epochs, batches):
    warm = warmup * batches
    rise = optax.linear_schedule(0.1 * peak, peak, warm)
    fall = optax.cosine_decay_schedule(peak, (epochs - warmup) * batches, alpha=0.01)
    return optax.join_schedules([rise, fall], [warm])


def make_tx(schedule, max_norm):
    return optax.chain(
        optax.clip_by_global_norm(max_norm),
        optax.trace(decay=0.9),
        optax.scale_by_schedule(schedule),
        optax.scale(-1.0),
    )


def next_rate(schedule, state):
    return schedule(state[2].count)
