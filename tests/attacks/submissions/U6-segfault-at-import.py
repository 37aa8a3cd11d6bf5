# U6: a segfault at import
# says: killed by SIGSEGV while running the import of your code
import ctypes

ctypes.string_at(0)
