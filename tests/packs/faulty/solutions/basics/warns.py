import warnings


def twice(x):
    warnings.warn("twice is deprecated; use 2 *", DeprecationWarning, stacklevel=2)
    return 2 * x


def double(x):
    return twice(x)
