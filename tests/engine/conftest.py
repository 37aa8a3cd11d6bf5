"""Lessons with one part changed, in packs of their own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tutor.lesson import Lesson
from tutor.pack import load_pack

LESSON: dict[str, Any] = {
    "id": "double",
    "title": "Twice as much",
    "track": "basics",
    "minutes": 1,
    "brief": "Write `double(x)`.",
    "torch": "import torch\n\ndef double(x):\n    return 2 * x\n",
    "starter": "def double(x):\n    raise NotImplementedError\n",
    "hints": ["Add it to itself."],
    "inputs": {"x": "normal(3, 4)"},
    "checks": [{"value": "double(x)"}],
}
MANIFEST = {
    "format": 1,
    "id": "engine",
    "title": "One lesson",
    "tracks": [{"id": "basics", "title": "Basics", "lessons": ["double"]}],
}

Written = Callable[..., Lesson]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Return a function that writes a pack with `LESSON` and changes, and loads the lesson."""

    def write(**changes: Any) -> Lesson:
        root = tmp_path / "pack"
        (root / "basics").mkdir(parents=True, exist_ok=True)
        (root / "pack.yaml").write_text(yaml.safe_dump(MANIFEST))
        (root / "basics" / "double.yaml").write_text(yaml.safe_dump(deepcopy_of(LESSON | changes)))
        (root / "solutions" / "basics").mkdir(parents=True, exist_ok=True)
        (root / "solutions" / "basics" / "double.py").write_text(RIGHT)
        return load_pack(root).lesson("double")

    return write


def deepcopy_of(fields: dict[str, Any]) -> Any:
    """Return a copy that shares nothing, so that YAML needs no anchors."""
    return json.loads(json.dumps(fields))


RIGHT = "def double(x):\n    return 2 * x\n"
