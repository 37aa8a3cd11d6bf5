# O5: becomes a program that is in memory only
# says: PermissionError
import os


def double(x):
    program = os.memfd_create("program", 0)
    os.write(program, b"#!/bin/sh\n")
    os.execve(program, ["program"], {})
    return 2 * x
