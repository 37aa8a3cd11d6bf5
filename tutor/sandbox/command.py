"""Command lines of processes that import this very copy of the package."""

import sys

# Before installed packages, which may hold another jaxtutor, but after the standard library.
_BOOT = (
    "import sys; "
    "sys.path.insert(next((n for n, path in enumerate(sys.path) if path.endswith('-packages')), "
    "len(sys.path)), sys.argv[1]); "
    "from {module} import main; main(*sys.argv[2:])"
)


def command(root: str, module: str, *arguments: str) -> list[str]:
    """Return the command that calls a module's `main` with these arguments, in an interpreter that
    ignores environment variables and the user's site-packages.

    **Arguments:** `root`: the directory that holds this package.
    """
    boot = _BOOT.format(module=module)
    return [sys.executable, "-I", "-B", "-X", "utf8", "-c", boot, root, *arguments]
