#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image.
set -euo pipefail
root=${AUTOGRADER_ROOT:-/autograder}

suitable() { command -v "$1" >/dev/null && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; }

python=
for candidate in python3 python3.13 python3.12 python3.11; do
    if suitable "$candidate"; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
    apt-get update
    apt-get install -y --no-install-recommends python3.11 python3.11-venv
    python=python3.11
fi

"$python" -m venv "$root/venv"
cd "$root/source"  # requirements.txt may name a wheel there
"$root/venv/bin/python" -m pip install --no-cache-dir -r requirements.txt
# Log which protections this machine has.
"$root/venv/bin/jaxtutor" doctor || true
