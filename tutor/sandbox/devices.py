"""Choose a lesson's devices: simulated CPU devices, or accelerators if there are enough.

Only lessons with several devices use accelerators. All others are compared with PyTorch on the CPU
to 1e-5, which an accelerator's matrix units do not reach.
"""

import os
import re
from importlib.util import find_spec
from pathlib import Path

_PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin")


def accelerators(requested: int) -> int:
    """Return how many accelerators to use for a lesson with `requested` devices: a power of two up
    to `requested`, or 0 to simulate. `JAXTUTOR_DEVICES=cpu` always simulates."""
    if requested < 2 or os.environ.get("JAXTUTOR_DEVICES", "auto") == "cpu":
        return 0
    if not any(find_spec(plugin) for plugin in _PLUGINS):
        return 0
    return usable(requested, nvidia_devices())


def usable(requested: int, present: int) -> int:
    """Return the largest power of two up to both numbers; 0 if it is 1."""
    count = min(requested, present)
    return 1 << (count.bit_length() - 1) if count >= 2 else 0


def nvidia_devices(folder: Path = Path("/dev")) -> int:
    """Return the number of NVIDIA devices."""
    try:
        return sum(1 for path in folder.iterdir() if re.fullmatch(r"nvidia\d+", path.name))
    except OSError:
        return 0
