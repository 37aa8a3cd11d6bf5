# O8: types into whatever its standard streams are
# says: PermissionError
import fcntl
import termios


def double(x):
    for stream in range(3):
        try:
            fcntl.ioctl(stream, termios.TIOCSTI, "x")
        except OSError as error:
            if error.errno != 25:  # ENOTTY: that one is no terminal
                raise
    return 2 * x
