"""Rules read from YAML, cached on disk: reading takes over 0.1 s, the cache milliseconds.

Nothing is validated here: tests do that.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def cached(
    name: str, paths: Sequence[Path], items: Callable[[Any], Any], form: type[tuple[T, ...]]
) -> tuple[T, ...]:
    """Return the items of some files of one directory, in order.

    **Arguments:** `name`: the cache's; `items`: a file's list of items; `form`: their type.
    """
    import msgspec

    from tutor.pack.pack_cache import recall, remember
    from tutor.pack.struct_reader import plain
    from tutor.pack.yaml_nodes import read

    folder = paths[0].parent
    seen = [[path.name, (stat := path.stat()).st_mtime_ns, stat.st_size] for path in paths]
    kept = recall(folder, name, tuple[list[Any], form])  # type: ignore[valid-type]
    if kept is not None and kept[0] == seen:
        return kept[1]
    found: list[T] = []
    for path in paths:
        node, _ = read(path, path.name)
        found += msgspec.convert(items(plain(node)), form)
    remember(folder, name, (seen, tuple(found)))
    return tuple(found)
