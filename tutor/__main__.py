"""`python -m tutor` is the command `jaxtutor`."""

import sys

from tutor.cli import main

if __name__ == "__main__":
    sys.exit(main())
