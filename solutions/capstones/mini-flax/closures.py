"""No classes: a flat dict of paths, and a scope made of two closures over it."""

import types
import zlib

import jax
import jax.numpy as jnp
from flax.traverse_util import flatten_dict, unflatten_dict


def scope_for(path, get):
    numbers = {}

    def param(name, shape, start):
        value = get((*path, name), tuple(shape), start)
        if value.shape != tuple(shape):
            where = "/".join((*path, name))
            raise ValueError(f"the shape of {where} is {value.shape} instead of {shape}")
        return value

    def layer(name, forward):
        numbers[name] = numbers.get(name, 0) + 1
        inner = (*path, f"{name}_{numbers[name] - 1}")

        def call(x):
            return forward(scope_for(inner, get), x)

        return call

    return types.SimpleNamespace(param=param, layer=layer)


def init(forward, key, x):
    made = {}

    def get(path, shape, start):
        if path not in made:
            mine = key
            for name in path:
                mine = jax.random.fold_in(mine, zlib.adler32(name.encode()))
            made[path] = start(mine, shape)
        return made[path]

    forward(scope_for((), get), x)
    return unflatten_dict(made)


def apply(forward, params, x):
    flat = flatten_dict(params)

    def get(path, shape, start):
        try:
            return flat[path]
        except KeyError:
            raise KeyError("/".join(path)) from None

    return forward(scope_for((), get), x)


def dense(features):
    def forward(scope, x):
        inputs = x.shape[-1]

        def start(key, shape):
            return jax.random.uniform(key, shape, jnp.float32, -(inputs**-0.5), inputs**-0.5)

        kernel = scope.param("kernel", (inputs, features), start)
        bias = scope.param("bias", [features], start)
        return jnp.dot(x, kernel) + bias

    return forward
