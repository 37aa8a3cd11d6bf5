# L8: reads the solution where the lessons are developed
# says: PermissionError
from pathlib import Path


def double(x):
    folder = Path("@REPO@/tests/packs/mini/solutions")
    assert (folder / "basics" / "double.py").read_text()
    return 2 * x
