"""Data files of this package, cached on disk once read: YAML takes over 0.1 s, the cache
milliseconds.

Nothing is validated but the form: tests do the rest.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def cached(name: str, paths: Sequence[Path], form: type[tuple[T, ...]]) -> tuple[T, ...]:
    """Return the contents of some files of one directory, in order.

    **Arguments:** `name`: the cache's; `form`: a tuple of the type of a file's content.
    """
    import msgspec
    import yaml

    from tutor.pack.pack_cache import recall, remember

    folder = paths[0].parent
    seen = [[path.name, (stat := path.stat()).st_mtime_ns, stat.st_size] for path in paths]
    kept = recall(folder, name, tuple[list[object], form])  # type: ignore[valid-type]
    if kept is not None and kept[0] == seen:
        return kept[1]
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    contents = [yaml.load(path.read_bytes(), loader) for path in paths]  # noqa: S506 - safe
    converted = msgspec.convert(contents, form)
    remember(folder, name, (seen, converted))
    return converted
