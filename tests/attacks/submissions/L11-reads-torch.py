# L11: reads PyTorch's source, to run it under another name
# says: PermissionError
import sys
from pathlib import Path


def double(x):
    (folder,) = {Path(entry) / "torch" for entry in sys.path if (Path(entry) / "numpy").is_dir()}
    assert (folder / "__init__.py").read_text()
    return 2 * x
