"""Examples of every command, which its `--help` ends with: a command line, and what it does."""

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "jaxtutor": (
        ("jaxtutor", "start the app where you left off"),
        ("jaxtutor vmap-basics", "start it on a lesson"),
        ("jaxtutor list", "list the lessons"),
        ("jaxtutor watch", "check on every save, in your own editor"),
    ),
    "jaxtutor list": (
        ("jaxtutor list", "all lessons, and how far you are"),
        ("jaxtutor list --map scatter", "what scatter becomes in JAX"),
        ("jaxtutor list --pack mypack", "the lessons of another pack"),
    ),
    "jaxtutor check": (
        ("jaxtutor check", "your file of the current lesson"),
        ("jaxtutor check vmap-basics --seed 7", "with other inputs"),
        ("jaxtutor check vmap-basics answer.py --json", "another file; a report as JSON"),
        ("jaxtutor check vmap-basics --report result.html", "also an HTML page to keep"),
    ),
    "jaxtutor open": (
        ("jaxtutor open vmap-basics", "start the app on a lesson"),
        ("jaxtutor vmap-basics", "the same"),
    ),
    "jaxtutor watch": (
        ("jaxtutor watch", "the current lesson; n goes to the next"),
        ("jaxtutor watch vmap-basics --no-editor", "opens no pane by itself"),
        ("jaxtutor watch vmap-basics | tee log.txt", "plain lines, without keys"),
    ),
    "jaxtutor hint": (
        ("jaxtutor hint", "the next hint of the current lesson"),
        ("jaxtutor hint vmap-basics --failure 1", "a hint that `check` offered"),
    ),
    "jaxtutor history": (
        ("jaxtutor history", "your attempts at the current lesson"),
        ("jaxtutor history vmap-basics --show 3", "the code of the third"),
        ("jaxtutor history vmap-basics --restore 3", "have it back; your code now is kept"),
    ),
    "jaxtutor notes": (
        ("jaxtutor notes", "your notes on the current lesson"),
        ("jaxtutor notes vmap-basics", "on another"),
    ),
    "jaxtutor export": (
        ("jaxtutor export work.zip", "your code, notes, attempts and progress"),
    ),
    "jaxtutor reset": (
        ("jaxtutor reset vmap-basics", "begin again; your code is backed up"),
    ),
    "jaxtutor torch": (
        ("jaxtutor torch vmap-basics", "print the PyTorch to translate"),
        ("jaxtutor torch vmap-basics --output original", "write original/vmap-basics.py"),
    ),
    "jaxtutor solution": (
        ("jaxtutor solution vmap-basics", "once you have passed"),
        ("jaxtutor solution vmap-basics --anyway", "before"),
    ),
    "jaxtutor certificate": (
        ('jaxtutor certificate gradients --name "Ada Lovelace"', "for a track"),
        ("jaxtutor certificate --verify certificate-core-gradients.json", "verify one"),
    ),
    "jaxtutor grade": (
        ("jaxtutor grade hw1 --pack homework", "each file in hw1/, into hw1-grades/"),
        ("jaxtutor grade hw1 --lesson vmap-basics --format gradebook.csv,report.html",
         "one lesson, with two more outputs"),
        ("jaxtutor grade hw1 --pack homework --resume", "what is new or changed"),
    ),
    "jaxtutor grade override": (
        ('jaxtutor grade override hw1-grades Carla vmap-basics 0.5 --reason "right idea"',
         "give Carla half a point"),
    ),
    "jaxtutor pack": (
        ("jaxtutor pack new mypack", "begin a pack"),
        ("jaxtutor pack list", "the packs that are installed"),
        ("jaxtutor pack test --help", "more about one of the commands"),
    ),
    "jaxtutor pack new": (("jaxtutor pack new mypack", "write mypack/, with a lesson"),),
    "jaxtutor pack add": (
        ("jaxtutor pack add cosine --pack mypack", "a lesson in the last track"),
        ("jaxtutor pack add cosine --new-track distances", "in a new track"),
    ),
    "jaxtutor pack lint": (
        ("jaxtutor pack lint", "the pack in this directory"),
        ("jaxtutor pack lint mypack --static", "without running its PyTorch"),
    ),
    "jaxtutor pack preview": (("jaxtutor pack preview mypack cosine", "open the preview"),),
    "jaxtutor pack build": (
        ("jaxtutor pack build mypack", "write a file that can be installed"),
        ("jaxtutor pack build mypack --without-solutions -o mypack.zip", "for learners"),
    ),
    "jaxtutor pack install": (
        ("jaxtutor pack install mypack.zip", "from `pack build`"),
        ("jaxtutor pack install mypack", "from its directory"),
    ),
    "jaxtutor pack list": (("jaxtutor pack list", "the ids that --pack takes"),),
    "jaxtutor pack remove": (("jaxtutor pack remove mypack", "your code is kept"),),
    "jaxtutor pack test": (
        ("jaxtutor pack test mypack", "every lesson"),
        ("jaxtutor pack test mypack cosine --seeds 2", "one lesson, with fewer inputs"),
        ("jaxtutor pack test mypack --mutate --junit results.xml", "for CI"),
    ),
    "jaxtutor explain": (
        ("jaxtutor explain trace.txt", "a traceback in a file"),
        ("python train.py 2>&1 | jaxtutor explain -", "of a program"),
        ("jaxtutor explain unsqueeze", "what JAX has in place of a name"),
        ("jaxtutor explain --list scan carry", "explanations with these words"),
    ),
    "jaxtutor doctor": (
        ("jaxtutor doctor", "check this machine"),
        ("jaxtutor doctor --report", "write a report to attach to an issue"),
    ),
    "jaxtutor completion": (
        ("jaxtutor completion bash > ~/.local/share/bash-completion/completions/jaxtutor",
         "needs the package bash-completion"),
        ('jaxtutor completion zsh > "${fpath[1]}/_jaxtutor"', "a directory of $fpath"),
        ("jaxtutor completion fish > ~/.config/fish/completions/jaxtutor.fish", ""),
    ),
}  # fmt: skip
"""By the program's name as in its usage."""

_WIDTH = 80
"""Columns of a terminal that shows every example in one line."""

_COLUMN = 44


def examples(program: str) -> str:
    """Return the lines that a help ends with; empty if there are none."""
    lines = []
    found = EXAMPLES.get(program, ())
    column = min(_COLUMN, _WIDTH - 2 - max((len(what) for _, what in found), default=0))
    for command, what in found:
        if len(command) <= column - 2:
            lines.append(f"  {command:<{column}}{what}".rstrip())
        else:
            lines += [f"  {command}", *([f"  {'':<{column}}{what}"] if what else [])]
    return "\n".join(["", "examples:", *lines, ""]) if lines else ""
