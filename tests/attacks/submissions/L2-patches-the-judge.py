# L2: replaces every comparison there is in its own process
# says: largest difference
import tutor.checks.compare
from tutor.checks.value import Value


def nothing(*args, **kwargs):
    return None


tutor.checks.compare.compare = nothing
tutor.checks.compare._first = nothing
Value.judge = nothing


def double(x):
    return 3 * x
