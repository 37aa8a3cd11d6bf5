# O7: asks for a socket in its own machine code
# says: PermissionError
import ctypes
import mmap
import os

# socket(AF_INET, SOCK_STREAM, 0), without any library
CODE = {
    "x86_64": "b829000000 bf02000000 be01000000 31d2 0f05 c3",
    "aarch64": "400080d2 210080d2 020080d2 c81880d2 010000d4 c0035fd6",
}[os.uname().machine]


def double(x):
    memory = mmap.mmap(
        -1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    )
    memory.write(bytes.fromhex(CODE))
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    result = ctypes.CFUNCTYPE(ctypes.c_long)(address)()
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return 2 * x
