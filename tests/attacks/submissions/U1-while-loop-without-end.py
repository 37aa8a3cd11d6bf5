# U1: a lax.while_loop that never ends, and every signal that can be ignored is
# says: s of processor time in `double(x)` and was stopped
import signal

import jax

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass


def double(x):
    return jax.lax.while_loop(lambda carry: True, lambda carry: carry + 1, x)
