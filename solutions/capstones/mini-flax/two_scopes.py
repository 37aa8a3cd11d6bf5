"""A class that makes parameters and one that looks them up; keys come from the whole path."""

import hashlib
from collections import Counter

import jax
import jax.numpy as jnp


class Scope:
    def __init__(self, path=""):
        self.path = path
        self.seen = Counter()

    def check(self, name, value, shape):
        if jnp.shape(value) != tuple(shape):
            raise ValueError(f"{self.path}{name}: expected {shape}, got {jnp.shape(value)}")
        return value

    def layer(self, name, forward):
        own = name + "_" + str(self.seen[name])
        self.seen[name] += 1
        return lambda x: forward(self.inside(own), x)


class Making(Scope):
    def __init__(self, tree, key, path=""):
        super().__init__(path)
        self.tree, self.key = tree, key

    def inside(self, name):
        return Making(self.tree.setdefault(name, {}), self.key, f"{self.path}{name}/")

    def param(self, name, shape, start):
        if name not in self.tree:
            digest = hashlib.sha256((self.path + name).encode()).digest()
            key = jax.random.fold_in(self.key, int.from_bytes(digest[:4], "little"))
            self.tree[name] = start(key, shape)
        return self.check(name, self.tree[name], shape)


class Reading(Scope):
    def __init__(self, tree, path=""):
        super().__init__(path)
        self.tree = tree

    def inside(self, name):
        return Reading(self.tree.get(name, {}), f"{self.path}{name}/")

    def param(self, name, shape, start):
        if name not in self.tree:
            raise KeyError(f"there is no parameter {self.path}{name}")
        return self.check(name, self.tree[name], shape)


def init(forward, key, x):
    tree = {}
    forward(Making(tree, key), x)
    return tree


def apply(forward, params, x):
    return forward(Reading(params), x)


class dense:  # noqa: N801
    def __init__(self, features):
        self.features = features

    def uniform(self, key, shape):
        return jax.random.uniform(key, shape, minval=-1, maxval=1) / jnp.sqrt(self.inputs)

    def __call__(self, scope, x):
        self.inputs = x.shape[-1]
        bias = scope.param("bias", (self.features,), self.uniform)
        kernel = scope.param("kernel", (self.inputs, self.features), self.uniform)
        return jnp.einsum("...i,io->...o", x, kernel) + bias
