"""jaxtutor: learn JAX by translating PyTorch.

The Python API: `load_pack` reads a pack of lessons, `run` checks a learner's code against one of
them and returns a `Report`, which is plain frozen data:

    import tutor

    pack = tutor.load_pack()
    report = tutor.run(pack.lesson("vmap-basics"), code)
    print(report.verdict)

`open_pack` reads each lesson on first access, which is faster, and reports its problems only then.

Nothing here imports JAX, PyTorch or NumPy; only the sandboxed processes that run untrusted code do.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tutor.engine.session import run
    from tutor.pack import load_pack, open_pack
    from tutor.report import Report

__all__ = ["Report", "__version__", "load_pack", "open_pack", "run"]

_HOME = {
    "load_pack": "tutor.pack",
    "open_pack": "tutor.pack",
    "run": "tutor.engine.session",
    "Report": "tutor.report",
}


def __getattr__(name: str) -> Any:
    # Lazy, so that a worker (which imports `tutor.sandbox.worker`) and `jaxtutor list` do not
    # pay for the engine.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
