"""`init` finds all shapes by eval_shape and draws then; both run forward with a callback."""

import dataclasses
import zlib

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Scope:
    find: object
    path: tuple = ()
    names: list = dataclasses.field(default_factory=list)

    def param(self, name, shape, start):
        path = "/".join((*self.path, name))
        value = self.find(path, shape, start)
        if value is None:
            raise KeyError(f"missing: {path}")
        if value.shape != tuple(shape):
            raise ValueError(f"{path}: {value.shape} is not {tuple(shape)}")
        return value

    def layer(self, name, forward):
        path = (*self.path, f"{name}_{self.names.count(name)}")
        self.names.append(name)
        return lambda x: forward(Scope(self.find, path), x)


def init(forward, key, x):
    wanted = {}

    def trace(x):
        def find(path, shape, start):
            first = wanted.setdefault(path, (tuple(shape), start))
            return jnp.zeros(first[0])

        return forward(Scope(find), x)

    jax.eval_shape(trace, x)
    params = {}
    for path, (shape, start) in wanted.items():
        *scopes, name = path.split("/")
        inner = params
        for scope in scopes:
            inner = inner.setdefault(scope, {})
        inner[name] = start(jax.random.fold_in(key, zlib.crc32(path.encode())), shape)
    return params


def apply(forward, params, x):
    def find(path, shape, start):
        found = params
        for name in path.split("/"):
            found = {} if found is None else found.get(name)
        return found

    return forward(Scope(find), x)


def dense(features):
    def forward(scope, x):
        bound = 1 / x.shape[-1] ** 0.5

        def start(key, shape):
            return bound * (2 * jax.random.uniform(key, shape) - 1)

        kernel = scope.param("kernel", (x.shape[-1], features), start)
        return jnp.matmul(x, kernel) + scope.param("bias", (features,), start)

    return forward
