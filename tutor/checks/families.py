"""Named distributions that an author may write, such as `normal(0, 1)` or `bernoulli(0.9)`."""

import ast
import math
from collections.abc import Callable, Mapping

from msgspec import Struct

from tutor.arrays import Floats, np
from tutor.inputs import arithmetic
from tutor.inputs.arithmetic import ArithmeticFault
from tutor.syntax_tree import expression_tree

MAX_CHARACTERS = 200
MAX_VALUES = 1000
"""Most values of a discrete distribution."""


class Continuous(Struct, frozen=True):
    """A distribution with a density. `mean` and `std` are None if they do not exist."""

    name: str
    cdf: "Callable[[Floats], Floats]"
    low: float = -math.inf
    high: float = math.inf
    mean: float | None = None
    std: float | None = None
    width: float = 1.0
    """The density is at most `1 / width`."""


class Discrete(Struct, frozen=True):
    """Values with their probabilities, which sum to 1."""

    name: str
    chances: dict[float, float]


class Orders(Struct, frozen=True):
    """Rows of different numbers from 0 to n - 1, in random order: all n, or the first of them."""

    name: str
    n: int


Family = Continuous | Discrete | Orders


class Distribution(Struct, frozen=True):
    """A parsed text such as `uniform(-1 / n**0.5, 1 / n**0.5)`; `at` evaluates its parameters."""

    text: str
    family: str
    arguments: tuple[ast.expr, ...]

    def __repr__(self) -> str:
        return f"Distribution({self.text!r})"

    @property
    def places(self) -> dict[str, int]:
        """The sizes it uses, each with its column (from 0)."""
        return {
            name: column
            for argument in reversed(self.arguments)
            for name, column in arithmetic.names_of(argument).items()
        }

    def at(self, sizes: Mapping[str, int]) -> Family:
        """Return the distribution for these sizes. Raises: ArithmeticFault: a parameter has no
        value, or one that the distribution cannot have."""
        make, _, _ = FAMILIES[self.family]
        values = [float(arithmetic.value(one, sizes)) for one in self.arguments]
        name = self.text
        if self.places:  # sizes, whose values a learner does not know
            name += f", here {self.family}({', '.join(f'{v:.4g}' for v in values)})"
        try:
            return make(name, *values)
        except (ValueError, OverflowError, ZeroDivisionError) as error:
            raise ArithmeticFault(f"{self.text}: {error}") from None


def parse(source: str) -> Distribution:
    """Parse a distribution. Raises: ArithmeticFault: the name is unknown, or the number of
    parameters is wrong."""
    text = source.strip()
    lead = len(source) - len(source.lstrip())
    if len(text) > MAX_CHARACTERS:
        raise ArithmeticFault(f"must have at most {MAX_CHARACTERS} characters, got {len(text):,}")
    try:
        call = expression_tree(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ArithmeticFault("must be a distribution such as normal(0, 1)", lead) from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        raise ArithmeticFault("must be a distribution such as normal(0, 1)", lead)
    name = call.func.id
    if name not in FAMILIES:
        raise ArithmeticFault(f"unknown distribution {name!r}; choose from {known()}", lead)
    _, usage, counts = FAMILIES[name]
    if len(call.args) not in counts:
        raise ArithmeticFault(f"wrong number of parameters; use {usage}", lead)
    try:
        return Distribution(text, name, tuple(map(arithmetic.checked, call.args)))
    except ArithmeticFault as error:
        raise ArithmeticFault(str(error), lead + error.column) from None


def known() -> str:
    return ", ".join(FAMILIES)


def _positive(value: float, parameter: str) -> float:
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{parameter} must be positive, got {value:g}")
    return value


def _between(low: float, high: float) -> None:
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"the lower bound must be below the upper, got {low:g} and {high:g}")


def _phi(x: Floats) -> Floats:
    erf = np.fromiter(map(math.erf, (x / math.sqrt(2)).ravel().tolist()), np.float64, x.size)
    return 0.5 * (1 + erf.reshape(x.shape))


def _normal(name: str, mean: float = 0.0, std: float = 1.0) -> Family:
    _positive(std, "the standard deviation")
    return Continuous(name, lambda x: _phi((x - mean) / std), mean=mean, std=std, width=std)


def _truncated_normal(
    name: str, low: float, high: float, mean: float = 0.0, std: float = 1.0
) -> Family:
    _between(low, high)
    _positive(std, "the standard deviation")
    a, b = (low - mean) / std, (high - mean) / std

    def at(z: float) -> float:
        return 0.5 * math.erfc(-z / math.sqrt(2))

    def density(z: float) -> float:
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    mass = _positive(at(b) - at(a), "the probability between the bounds")
    shift = (density(a) - density(b)) / mass
    spread = 1 + (a * density(a) - b * density(b)) / mass - shift**2
    return Continuous(
        name,
        lambda x: (_phi((x - mean) / std) - at(a)) / mass,
        low, high, mean + std * shift, std * math.sqrt(_positive(spread, "the variance")),
        std * mass * math.sqrt(2 * math.pi),
    )  # fmt: skip


def _uniform(name: str, low: float = 0.0, high: float = 1.0) -> Family:
    _between(low, high)
    width = high - low
    return Continuous(
        name, lambda x: (x - low) / width, low, high, (low + high) / 2, width / 12**0.5, width
    )


def _exponential(name: str, scale: float = 1.0) -> Family:
    _positive(scale, "the scale")
    return Continuous(
        name, lambda x: -np.expm1(-np.maximum(x, 0) / scale), 0.0, math.inf, scale, scale, scale
    )


def _laplace(name: str, mean: float = 0.0, scale: float = 1.0) -> Family:
    _positive(scale, "the scale")

    def cdf(x: Floats) -> Floats:
        z = (x - mean) / scale
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1 - tail)

    return Continuous(name, cdf, mean=mean, std=scale * 2**0.5, width=scale)


def _logistic(name: str, mean: float = 0.0, scale: float = 1.0) -> Family:
    _positive(scale, "the scale")
    return Continuous(
        name,
        lambda x: 0.5 * (1 + np.tanh((x - mean) / (2 * scale))),
        mean=mean, std=scale * math.pi / 3**0.5, width=scale,
    )  # fmt: skip


def _gumbel(name: str, mode: float = 0.0, scale: float = 1.0) -> Family:
    _positive(scale, "the scale")
    return Continuous(
        name,
        lambda x: np.exp(-np.exp(np.clip((mode - x) / scale, -700, 700))),
        mean=mode + 0.5772156649015329 * scale, std=scale * math.pi / 6**0.5, width=scale,
    )  # fmt: skip


def _cauchy(name: str, location: float = 0.0, scale: float = 1.0) -> Family:
    _positive(scale, "the scale")
    return Continuous(name, lambda x: 0.5 + np.arctan((x - location) / scale) / np.pi, width=scale)


def _bernoulli(name: str, p: float = 0.5) -> Family:
    if not 0 < p < 1:
        raise ValueError(f"the probability must be between 0 and 1, got {p:g}")
    return Discrete(name, {0.0: 1 - p, 1.0: p})


def _integers(name: str, low: float, high: float) -> Family:
    if not (low.is_integer() and high.is_integer() and 1 <= high - low <= MAX_VALUES):
        raise ValueError(f"the bounds must be at most {MAX_VALUES} integers apart")
    values = range(int(low), int(high))
    return Discrete(name, dict.fromkeys(map(float, values), 1 / len(values)))


def _categorical(name: str, *chances: float) -> Family:
    if min(chances) < 0 or sum(chances) <= 0:
        raise ValueError("probabilities must not be negative, and their sum must be positive")
    return Discrete(name, {float(k): p / sum(chances) for k, p in enumerate(chances)})


def _rademacher(name: str) -> Family:
    return Discrete(name, {-1.0: 0.5, 1.0: 0.5})


def _poisson(name: str, rate: float) -> Family:
    if _positive(rate, "the rate") > 200:
        raise ValueError(f"the rate must be at most 200, got {rate:g}")
    last = int(rate + 20 * rate**0.5 + 40)
    return Discrete(
        name,
        {float(k): math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in range(last)},
    )


def _permutation(name: str, n: float) -> Family:
    if not (n.is_integer() and 2 <= n <= MAX_VALUES):
        raise ValueError(f"must have from 2 to {MAX_VALUES} numbers, got {n:g}")
    return Orders(name, int(n))


FAMILIES: Mapping[str, tuple[Callable[..., Family], str, range]] = {
    "normal": (_normal, "normal(mean=0, std=1)", range(3)),
    "uniform": (_uniform, "uniform(low=0, high=1)", range(3)),
    "truncated_normal": (
        _truncated_normal,
        "truncated_normal(low, high, mean=0, std=1): normal(mean, std) between the bounds",
        range(2, 5),
    ),
    "exponential": (_exponential, "exponential(scale=1)", range(2)),
    "laplace": (_laplace, "laplace(mean=0, scale=1)", range(3)),
    "logistic": (_logistic, "logistic(mean=0, scale=1)", range(3)),
    "gumbel": (_gumbel, "gumbel(mode=0, scale=1)", range(3)),
    "cauchy": (_cauchy, "cauchy(location=0, scale=1)", range(3)),
    "bernoulli": (_bernoulli, "bernoulli(p=0.5)", range(2)),
    "integers": (_integers, "integers(low, high), high excluded", range(2, 3)),
    "categorical": (_categorical, "categorical(p0, p1, ...)", range(1, 40)),
    "rademacher": (_rademacher, "rademacher(): -1 or 1", range(1)),
    "poisson": (_poisson, "poisson(rate)", range(1, 2)),
    "permutation": (
        _permutation,
        "permutation(n): each row (last axis) holds numbers from 0 to n - 1 in random order",
        range(1, 2),
    ),
}
"""The constructor, the usage (parameters by position) and the numbers of parameters."""
