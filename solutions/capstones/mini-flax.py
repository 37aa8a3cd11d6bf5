"""A scope makes parameters if it has a key, and looks them up if it has none."""

import zlib

import jax


def fold(key, name):
    return None if key is None else jax.random.fold_in(key, zlib.crc32(name.encode()))


class Scope:
    def __init__(self, params, key, path=()):
        self.params, self.key, self.path = params, key, path
        self.counts = {}

    def param(self, name, shape, start):
        path = "/".join([*self.path, name])
        if name not in self.params:
            if self.key is None:
                raise KeyError(path)
            self.params[name] = start(fold(self.key, name), shape)
        if self.params[name].shape != shape:
            raise ValueError(f"{path} is {self.params[name].shape}, not {shape}")
        return self.params[name]

    def layer(self, name, forward):
        number = self.counts[name] = self.counts.get(name, -1) + 1
        name = f"{name}_{number}"
        inner, key = self.params.get(name, {}), fold(self.key, name)
        if self.key is not None:
            self.params[name] = inner
        return lambda x: forward(Scope(inner, key, (*self.path, name)), x)


def init(forward, key, x):
    scope = Scope({}, key)
    forward(scope, x)
    return scope.params


def apply(forward, params, x):
    return forward(Scope(params, None), x)


def dense(features):
    def forward(scope, x):
        bound = x.shape[-1] ** -0.5

        def start(key, shape):
            return jax.random.uniform(key, shape, minval=-bound, maxval=bound)

        kernel = scope.param("kernel", (x.shape[-1], features), start)
        return x @ kernel + scope.param("bias", (features,), start)

    return forward
