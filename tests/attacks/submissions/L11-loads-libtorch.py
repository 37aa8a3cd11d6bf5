# L11: loads PyTorch's own library
# says: OSError
import ctypes
import sys
from pathlib import Path


def double(x):
    for entry in sys.path:
        library = Path(entry) / "torch" / "lib" / "libc10.so"
        if library.exists():
            ctypes.CDLL(str(library))
    return 2 * x
