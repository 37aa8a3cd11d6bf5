# L8: reads the lesson, its checks and mistakes
# says: PermissionError
from pathlib import Path


def double(x):
    assert Path("@REPO@/tests/packs/mini/lessons/basics/double.yaml").read_text()
    return 2 * x
