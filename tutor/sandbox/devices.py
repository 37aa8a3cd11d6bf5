"""Which devices a lesson runs on: simulated CPU devices, or real ones where there are enough.

Only lessons about several devices ever use accelerators. Everything else is compared with
PyTorch on the CPU to 1e-5, which an accelerator's matrix units do not give.
"""

import os
import re
from importlib.util import find_spec
from pathlib import Path

_PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin")


def accelerators(wanted: int) -> int:
    """How many real accelerators to use for a lesson that wants `wanted` devices: a power of
    two up to `wanted`, or 0 to simulate. `JAXTUTOR_DEVICES=cpu` always simulates."""
    if wanted < 2 or os.environ.get("JAXTUTOR_DEVICES", "auto") == "cpu":
        return 0
    if not any(find_spec(plugin) for plugin in _PLUGINS):
        return 0
    return usable(wanted, nvidia_devices())


def usable(wanted: int, present: int) -> int:
    """The largest power of two that is at most both; a single device shares nothing: 0."""
    count = min(wanted, present)
    return 1 << (count.bit_length() - 1) if count >= 2 else 0


def nvidia_devices(folder: Path = Path("/dev")) -> int:
    try:
        return sum(1 for path in folder.iterdir() if re.fullmatch(r"nvidia\d+", path.name))
    except OSError:
        return 0
