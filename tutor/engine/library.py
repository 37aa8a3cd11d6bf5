"""The public names of JAX, Flax, Optax and NumPy, and what each function says of itself.

They are read once for each release, in a sandbox of their own, and kept on disk: nothing is
imported here, and no learner's code runs there.
"""

import hashlib
from contextlib import suppress

import msgspec
from msgspec import Struct

from tutor.engine.references import own_version
from tutor.engine.versions import installed_versions
from tutor.foreign.plain_text import inert
from tutor.lesson import Limits
from tutor.report import Called
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.launch import Spec
from tutor.sandbox.process import Failed, Sandbox
from tutor.sandbox.protocol import Answer, Observe
from tutor.storage import paths
from tutor.storage.cache import DiskCache

INSIDE = "tutor.checks.inside.library"
SPEC = Spec("learner", Limits(seconds=120, memory_mb=4096))
MAX_BYTES = 4 << 20


class Library(Struct, frozen=True):
    """Public names by module, as `jax.numpy`; of each name its signature, such as
    `(x, axis=None)`, and the first paragraph of its docstring."""

    modules: dict[str, dict[str, tuple[str, str]]]

    def function(self, name: str) -> Called | None:
        """Return what a function says of itself; None if there is none of this full name."""
        module, _, last = name.rpartition(".")
        described = self.modules.get(module, {}).get(last)
        return Called(name, *described) if described is not None and any(described) else None


def known_library() -> Library | None:
    """Return the names that are known already, without starting anything."""
    data = _cache().load(_entry())
    if data is not None:
        with suppress(msgspec.MsgspecError, ValueError):
            return msgspec.msgpack.decode(data, type=Library)
    return None


def library() -> Library | None:
    """Return the names; the first time, it takes some seconds of a sandbox. None if that fails."""
    known = known_library()
    return known if known is not None else _read()


def _read() -> Library | None:
    try:
        with Sandbox.start(SPEC) as sandbox:
            sandbox.ready()
            request = Observe("library", INSIDE, {})
            reply, tree = sandbox.ask(request, [{}], Allowance(SPEC.limits.seconds), "names")
    except Failed:
        return None
    if not isinstance(reply, Answer):
        return None
    try:
        found = msgspec.convert({"modules": tree}, Library)
    except msgspec.ValidationError:
        return None
    modules = {
        module: {name: (inert(one[0]), inert(one[1])) for name, one in names.items()}
        for module, names in found.modules.items()
    }
    result = Library(modules)
    _cache().save(_entry(), msgspec.msgpack.encode(result))
    return result


def _cache() -> DiskCache:
    return DiskCache(paths.cache() / "library", ".names", max_files=4, max_entry=MAX_BYTES)


def _entry() -> str:
    parts = msgspec.json.encode([own_version(), installed_versions()])
    return hashlib.sha256(parts).hexdigest()[:32]
