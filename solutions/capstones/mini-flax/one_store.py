"""One store of arrays by path, shared by all scopes; a flag says whether it may grow."""

from hashlib import md5

import jax
import jax.numpy as jnp


class Store:
    def __init__(self, arrays, key=None):
        self.arrays, self.key = arrays, key

    def get(self, path, shape, start):
        array = self.arrays.get(path)
        if array is None:
            if self.key is None:
                raise KeyError(f"no parameter at {path}")
            number = int(md5(path.encode()).hexdigest()[:8], 16)
            array = self.arrays[path] = start(jax.random.fold_in(self.key, number), shape)
        if tuple(array.shape) != tuple(shape):
            raise ValueError(f"at {path}: {tuple(array.shape)} is there, {tuple(shape)} asked for")
        return array


class Scope:
    def __init__(self, store, prefix=""):
        self.store, self.prefix, self.layers = store, prefix, {}

    def param(self, name, shape, start):
        return self.store.get(self.prefix + name, shape, start)

    def layer(self, name, forward):
        number = self.layers.setdefault(name, 0)
        self.layers[name] += 1
        prefix = f"{self.prefix}{name}_{number}/"

        def run(x):
            return forward(Scope(self.store, prefix), x)

        return run


def nested(flat):
    tree = {}
    for path, array in flat.items():
        *outer, last = path.split("/")
        place = tree
        for name in outer:
            place = place.setdefault(name, {})
        place[last] = array
    return tree


def flat(tree, prefix=""):
    found = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}/")
        else:
            found[prefix + name] = value
    return found


def init(forward, key, x):
    store = Store({}, key)
    forward(Scope(store), x)
    return nested(store.arrays)


def apply(forward, params, x):
    return forward(Scope(Store(flat(params))), x)


def dense(features):
    def forward(scope, x):
        n = x.shape[-1]
        limit = jnp.sqrt(1 / n)

        def between(key, shape):
            return jax.random.uniform(key, shape, minval=-limit, maxval=limit)

        weights = scope.param("kernel", (n, features), between)
        offset = scope.param("bias", (features,), between)
        return jax.lax.dot_general(x, weights, (((x.ndim - 1,), (0,)), ((), ()))) + offset

    return forward
