"""A frozen dataclass that stands for a stream of keys, as in libraries for models."""

import dataclasses

import jax


@dataclasses.dataclass(frozen=True)
class Stream:
    key: jax.Array

    def __getitem__(self, number):
        return Stream(jax.random.fold_in(self.key, number))


def each_row(f, key, xs):
    def one(x, k):
        return f(k, x)

    return jax.vmap(one)(xs, jax.random.split(key, len(xs)))


def run(f, key, state, steps):
    stream = Stream(key)
    for i in range(len(steps)):
        state = f(stream[steps[i]].key, state)
    return state


def augment(f, key, epoch, ids, xs):
    stream = Stream(key)[epoch]
    return jax.vmap(lambda x, i: f(stream[i].key, x))(xs, ids)
