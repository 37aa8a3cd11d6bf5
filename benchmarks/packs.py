"""Packs of any size, made of copies of one lesson."""

import re
from pathlib import Path

PER_TRACK = 50
"""Lessons per track, as in a long course."""

MODEL = Path(__file__).parent.parent / "lessons" / "batching" / "vmap-basics.yaml"
"""The lesson to copy: 177 lines, eight checks, seven mistakes."""


def make_pack(root: Path, lessons: int) -> Path:
    """Write a valid pack with tracks of fifty lessons, each of which needs the one before it.

    **Arguments:** `root`: the directory to create; `lessons`: how many.

    **Returns:** `root`.
    """
    names = [f"lesson-{number:05d}" for number in range(lessons)]
    tracks = [names[start : start + PER_TRACK] for start in range(0, lessons, PER_TRACK)]
    manifest = ["format: 1", f"id: made-{lessons}", f"title: Made of {lessons} lessons", "tracks:"]
    model = MODEL.read_text(encoding="utf-8")
    before: list[str] = []
    for number, track in enumerate(tracks):
        folder = root / f"track-{number:03d}"
        folder.mkdir(parents=True)
        manifest += [f"  - id: {folder.name}", f"    title: Track {number}", "    lessons:"]
        manifest += [f"      - {name}" for name in track]
        for name in track:
            head = {
                "id": name,
                "title": f"Batches, {name.replace('-', ' ')}",
                "track": folder.name,
                "needs": f"[{', '.join(before)}]",
            }
            text = model
            for key, value in head.items():
                text, found = re.subn(rf"(?m)^{key}: .*$", f"{key}: {value}", text)
                assert found == 1, f"the model has no {key}"
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
            before = [name]
    (root / "pack.yaml").write_text("\n".join([*manifest, ""]), encoding="utf-8")
    return root
