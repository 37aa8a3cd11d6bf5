"""Data sets that are generated: groups of points, half-moons, targets on a plane.

How well they can be learned does not depend on the seed, so a lesson may ask for an accuracy.
"""

from tutor.arrays import np
from tutor.inputs.datasets import Examples

MAX_CLASSES = 1_000

APART = 5.0
"""Distance of neighbouring centres, in units of `spread`: a straight line errs in 0.6 % of them."""


def blobs(random: "np.random.Generator", n: int, d: int, classes: int, spread: float) -> Examples:
    """Return points x (n, d) in normal groups around centres, and their groups y (n,).

    The centres lie on a circle, in one dimension on a line. `spread` is the standard deviation of
    a group; neighbouring centres are `APART` from each other, whatever it is.
    """
    centres = np.zeros((classes, d))
    if d == 1:
        centres[:, 0] = APART * (np.arange(classes) - (classes - 1) / 2)
    else:
        radius = APART / 2 / np.sin(np.pi / classes)
        angles = 2 * np.pi * (np.arange(classes) / classes + random.random())
        centres[:, 0], centres[:, 1] = radius * np.cos(angles), radius * np.sin(angles)
        rotation, _ = np.linalg.qr(random.normal(size=(d, d)))
        centres = centres @ rotation
    y = random.permutation(np.arange(n) % classes)
    x = centres[y] + random.normal(0, spread, (n, d))
    return x.astype(np.float32), y.astype(np.int32)


def moons(random: "np.random.Generator", n: int, noise: float) -> Examples:
    """Return points x (n, 2) on two half-circles that reach into each other, and on which one they
    are, y (n,). No straight line separates the two."""
    y = random.permutation(np.arange(n) % 2)
    angles = random.uniform(0, np.pi, n)
    upper = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    lower = np.stack([1 - np.cos(angles), 0.5 - np.sin(angles)], axis=1)
    x = np.where(y[:, None] == 0, upper, lower) + random.normal(0, noise, (n, 2))
    return x.astype(np.float32), y.astype(np.int32)


def plane(random: "np.random.Generator", n: int, d: int, noise: float) -> Examples:
    """Return points x (n, d) and targets y (n,) = x @ w + b, with noise of this standard deviation.
    Without it, the targets have mean b from -1 to 1 and standard deviation 1."""
    x = random.normal(size=(n, d))
    w = random.normal(size=d)
    b = random.uniform(-1, 1)
    y = x @ (w / max(float(np.linalg.norm(w)), 1e-12)) + b + random.normal(0, noise, n)
    return x.astype(np.float32), y.astype(np.float32)
