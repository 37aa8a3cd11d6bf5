"""Commands that start a process of ours: one that imports this very package, no other."""

import sys

# Before what is installed, which may be another jaxtutor, but after the standard library.
_BOOT = (
    "import sys; "
    "sys.path.insert(next((n for n, path in enumerate(sys.path) if path.endswith('-packages')), "
    "len(sys.path)), sys.argv[1]); "
    "from {module} import main; main(*sys.argv[2:])"
)


def command(root: str, module: str, *arguments: str) -> list[str]:
    """Calls `main` of a module with these arguments, in an interpreter that heeds no variables of
    the environment and nobody's own packages.

    **Arguments:** `root`: the folder that holds this package.
    """
    boot = _BOOT.format(module=module)
    return [sys.executable, "-I", "-B", "-X", "utf8", "-c", boot, root, *arguments]
