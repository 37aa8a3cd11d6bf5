"""Clipping, momentum and the rate are links of one chain, and the schedule counts updates.

The state holds the count, so the rate of the next update can be computed from it.
"""

import optax

clipped_last = [-0.6, -0.8]


def make_schedule(peak, warmup, epochs, batches):
    return optax.warmup_cosine_decay_schedule(
        init_value=peak / 10,
        peak_value=peak,
        warmup_steps=warmup * batches,
        decay_steps=epochs * batches,
        end_value=peak / 100,
    )


def make_tx(schedule, max_norm):
    return optax.chain(optax.clip_by_global_norm(max_norm), optax.sgd(schedule, momentum=0.9))


def next_rate(schedule, state):
    return schedule(optax.tree.get(state, "count"))
