"""Causes: the lesson's PyTorch computes something that the learner's code does not mention."""

import re
from collections import Counter

from tutor.explain.bare_code import bare
from tutor.explain.causes.comparison import Comparison, Fields
from tutor.explain.causes.factors import literals

_POWER = re.compile(r"\*\* ?-?[\d.]+")

FUNCTIONS: dict[str, tuple[str, str]] = {
    "tanh": (r"\btanh\b|\.Tanh\b", r"\btanh\b|LSTM|GRU|RNN|sinh|gelu"),
    "sigmoid": (r"\bsigmoid\b|\.Sigmoid\b", r"sigmoid|expit|logistic|silu|swish|LSTM|GRU|exp\("),
    "relu": (
        r"\brelu\b|\.ReLU\b",
        r"relu|maximum|where|clip|max\(|select|activation|\bact\b|> 0|>= 0",
    ),
    "gelu": (r"\bgelu\b|\.GELU\b", r"gelu|erf|activation"),
    "softmax": (
        r"\bsoftmax\b|cross_entropy",
        r"softmax|logsumexp|cross_entropy|exp\(|attention|Attention",
    ),
    "sqrt": (
        r"\bsqrt\b|\brsqrt\b",
        r"sqrt|norm|std\(|\*\* ?\(?-? ?0?\.5|\*\* ?-?\(1 / 2|hypot|Norm|power|pow\(|abs\(|standard",
    ),
    "log": (r"\blog\b|log1p|\.log2\b", r"log|entropy|Entropy|kl_div"),
    "exp": (r"\bexp\b", r"exp|softmax|sigmoid|logistic|softplus|gaussian|normal|pdf"),
    "sin": (r"\bsin\b", r"\bsin\b|cos|exp|polar|sinusoid"),
    "cos": (r"\bcos\b|CosineAnnealing", r"cos|sin\b|Cos|exp"),
    "clip": (
        r"\bclamp_?\b|\bclip\b",
        r"clip|clamp|minimum|maximum|where|min\(|max\(|select|relu",
    ),
    "dropout": (r"\bdropout\b|\.Dropout\b", r"[dD]ropout|bernoulli|mask|random|keep"),
    "label_smoothing": (r"label_smoothing=", r"smooth|one_hot|/ ?\d|/ ?len"),
    "clip_grad_norm_": (r"clip_grad_norm_?\b", r"clip|norm|minimum|maximum|where"),
    "ignore_index": (r"ignore_index=|-100", r"-100|ignore|where|mask|>= ?0|< ?0|valid|keep"),
    "weight_decay": (
        r"weight_decay=(?!0(\.0)?\b)|\bAdamW\b",
        r"decay|(?<![a-z_])(adamw|lion|lamb|lars)\b",
    ),
    "cumsum": (r"\bcumsum\b", r"cumsum|scan|accumulate|associative|tril|triu|cumulative"),
}
"""Functions by name: how PyTorch code mentions them, and how JAX code might."""

SETTINGS: dict[str, tuple[str, str]] = {
    "momentum": (
        r"\bmomentum=(?!0(\.0)?\b)",
        r"momentum|trace|velocity|0\.9|BatchNorm|beta|\bb1\b",
    ),
    "nesterov": (r"nesterov=True", r"nesterov|nadam|trace|momentum|velocity"),
}
"""Settings of optimizers and losses, likewise."""


def function_not_called(comparison: Comparison) -> Fields | None:
    """Recognise code without a function that the PyTorch calls, by any of its JAX names."""
    source, torch = bare(comparison.source), bare(comparison.torch)
    # Networks and losses may be the lesson's own.
    everything = source + bare(comparison.elsewhere)
    missing = [
        name
        for name, (there, here) in (*FUNCTIONS.items(), *SETTINGS.items())
        if re.search(there, torch)
        and not re.search(here, source if name in SETTINGS else everything)
    ]
    return {"function": missing[0]} if len(missing) == 1 and comparison.pairs else None


def another_number(comparison: Comparison) -> Fields | None:
    """Recognise code that has one float that the PyTorch does not have, and lacks one that it
    has."""
    ours = literals(_POWER.sub("", bare(comparison.source)))
    theirs = literals(_POWER.sub("", bare(comparison.torch)))

    def known(number: float, among: set[float]) -> bool:
        return any(
            abs(one - other) <= 1e-9 * abs(other)
            for one in (number, -number, 1 - number, 1 / number, 1 + number, 2 * number, number / 2)
            for other in among
        )

    unknown = [number for number in sorted(ours) if not known(number, theirs)]
    missing = [number for number in sorted(theirs) if not known(number, ours)]
    if len(unknown) != 1 or len(missing) != 1 or not comparison.pairs:
        return None
    if not 1e-3 <= unknown[0] / missing[0] <= 1e3:  # of different use
        return None
    return {"number": f"{unknown[0]:g}", "expected_number": f"{missing[0]:g}"}


_REDUCTIONS = re.compile(r"\b(mean|sum)\(")


def sum_or_mean(comparison: Comparison) -> Fields | None:
    """Recognise code that sums, and divides by nothing, where the PyTorch takes means."""
    source, torch = bare(comparison.source), bare(comparison.torch)
    if re.search(r"/|pmap|shard_map", source):  # as a mean by hand
        return None
    ours = set(_REDUCTIONS.findall(re.sub(r"pmean|psum", "", source)))
    theirs = set(_REDUCTIONS.findall(torch))
    if ours == {"sum"} and theirs == {"mean"} and comparison.pairs:
        return {"function": "sum", "expected_function": "mean"}
    return None


_DIM = re.compile(r"\b(?:dim|axis)=\(?(-?\d)\b")
_AXIS = re.compile(r"\baxis=\(?(-?\d)\b")
_KEEPS_SIZE = re.compile(
    r"\b(?:stack|[vhd]stack|concatenate|cat|split|chunk|expand_dims|(?:un)?squeeze|take|gather|flip"
    r"|roll|repeat\w*|tile|sort|topk|cumsum|cumprod|unbind|moveaxis|select|one_hot)\("
)
"""Functions whose axis is not one to reduce over."""


def other_reduction_axis(comparison: Comparison) -> Fields | None:
    """Recognise code that names only axis 0 where the PyTorch names only other axes, or the
    reverse."""
    source, torch = bare(comparison.source), bare(comparison.torch)
    ours, theirs = set(_AXIS.findall(source)), set(_DIM.findall(torch))
    if not ours or not theirs or not comparison.pairs or "vmap" in source:
        return None
    if re.search(r"\bfor\b", torch):  # over examples, which have an axis less
        return None
    if _KEEPS_SIZE.search(source) or _KEEPS_SIZE.search(torch):
        return None
    if ("0" in ours) != ("0" in theirs) and len(ours) == len(theirs) == 1:
        return {"axis": ", ".join(sorted(ours)), "expected_axis": ", ".join(sorted(theirs))}
    return None


EXTRA: dict[str, tuple[str, str]] = {
    "softmax": (
        r"\bsoftmax\(",
        r"softmax|cross_entropy|CrossEntropy|attention|Attention|Transformer|exp\(|logsumexp",
    ),
    "relu": (r"\brelu\b", r"relu|ReLU|clamp|clip|maximum|where|threshold|hinge|Transformer|max\("),
    "tanh": (r"\btanh\(", r"tanh|Tanh|LSTM|GRU|RNN|gelu|GELU"),
    "sigmoid": (r"\bsigmoid\(", r"[sS]igmoid|LSTM|GRU|bce|BCE|[lL]ogi|silu|SiLU|exp\(|expit"),
    "gelu": (r"\bgelu\(", r"gelu|GELU|Transformer|erf"),
    "log2": (r"\blog2\(", r"log2"),
}
"""Functions by name: how JAX code calls them, and how PyTorch code might."""


def function_only_here(comparison: Comparison) -> Fields | None:
    """Recognise code that calls a function that the PyTorch does not mention, by any name."""
    source, torch = bare(comparison.source), bare(comparison.torch)
    if not re.search(r"^(def|class) ", torch, re.MULTILINE) or "activation" in source:
        return None
    extra = [
        name
        for name, (here, there) in EXTRA.items()
        if re.search(here, source) and not re.search(there, torch)
    ]
    return {"function": extra[0]} if len(extra) == 1 and comparison.pairs else None


_COUNTED = re.compile(r"\b(relu|tanh|sigmoid|gelu|silu|elu)\(", re.IGNORECASE)
_LOOP = re.compile(r"\bfor\b|\bscan\b|\bmap\(|\breduce\b|\blambda\b|\bwhile\b")


def another_number_of_calls(comparison: Comparison) -> Fields | None:
    """Recognise code without loops that calls an activation more or less often than the PyTorch."""
    source, torch = bare(comparison.source), bare(comparison.torch)
    if _LOOP.search(source) or _LOOP.search(torch) or not comparison.pairs:
        return None
    if _called_twice(source):
        return None
    ours, theirs = ([name.lower() for name in _COUNTED.findall(code)] for code in (source, torch))
    for name in dict.fromkeys(theirs):
        one, other = ours.count(name), theirs.count(name)
        if one and one != other:
            return {"function": name, "count": str(one), "expected_count": str(other)}
    return None


def _called_twice(source: str) -> bool:
    """Return whether a function with an activation is called several times."""
    blocks = re.split(r"^(?=def )", source, flags=re.MULTILINE)
    named = [(re.match(r"def +(\w{1,60})\(", block), block) for block in blocks]
    activate = {found[1] for found, block in named if found and _COUNTED.search(block)}
    written = Counter(re.findall(r"\b(\w{1,60})\(", source))  # once where it is defined
    return any(written[name] > 2 for name in activate)


_IGNORES = re.compile(r"masked_fill_?\((\w+)\b(?! ?==)|key_padding_mask=(\w+)|attn_mask=(\w+)")


def mask_as_it_is(comparison: Comparison) -> Fields | None:
    """Recognise a mask that means "ignore" in the PyTorch and "keep" in the code, by its name."""
    source = bare(comparison.source)
    for names in _IGNORES.findall(bare(comparison.torch)):
        name = next(name for name in names if name)
        kept = (
            rf"\bwhere\({name}(\[[^\]]*\])?, ?(?! |-|\d|jnp\.finfo|float\(|jnp\.nan)|mask={name}\b"
        )
        if comparison.pairs and re.search(kept, source):
            return {"mask": name}
    return None
