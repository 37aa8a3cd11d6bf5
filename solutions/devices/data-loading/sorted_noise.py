import jax
import jax.numpy as jnp
import numpy as np


def order(key, epoch, n, size):
    noise = jax.random.uniform(jax.random.fold_in(key, epoch), (n,))
    shuffled = jnp.argsort(noise).astype(jnp.int32)
    batches = n // size
    return jax.lax.dynamic_slice(shuffled, (0,), (batches * size,)).reshape(batches, size)


def fit(step, state, key, data, size, epochs):
    n = jax.tree.leaves(data)[0].shape[0]
    batches = n // size

    def body(state, i):
        rows = order(key, i // batches, n, size)[i % batches]
        return step(state, jax.tree.map(lambda a: a.at[rows].get(), data))

    state, losses = jax.lax.scan(body, state, jnp.arange(epochs * batches))
    return state, jnp.reshape(losses, (epochs, batches))


class Padded:
    def __init__(self, data, size):
        self.leaves, self.structure = jax.tree.flatten(data)
        self.size, self.n = size, len(self.leaves[0])

    def __iter__(self):
        for first in range(0, self.n, self.size):
            batch = []
            for leaf in self.leaves:
                filled = np.zeros((self.size, *leaf.shape[1:]), leaf.dtype)
                part = leaf[first : first + self.size]
                filled[: len(part)] = part
                batch.append(filled)
            mask = np.zeros(self.size, bool)
            mask[: min(self.size, self.n - first)] = True
            yield jax.tree.unflatten(self.structure, batch), mask


def padded(data, size):
    return iter(Padded(data, size))


class Prefetch:
    def __init__(self, source, depth):
        self.source, self.depth, self.waiting = iter(source), depth, []

    def __iter__(self):
        return self

    def __next__(self):
        while len(self.waiting) <= self.depth:
            try:
                batch = next(self.source)
            except StopIteration:
                break
            self.waiting.append(jax.tree.map(lambda a: jnp.array(a, copy=True), batch))
        if not self.waiting:
            raise StopIteration
        return self.waiting.pop(0)


prefetch = Prefetch
