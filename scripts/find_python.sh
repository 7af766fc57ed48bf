#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the path of a Python >= 3.11: $PYTHON when it is set, else the first found, one that can make virtual
# environments before one that cannot.
set -eu

candidates="${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}"
for imports in sys,venv,ensurepip sys; do
    for candidate in "${PYTHON:-}" $candidates; do
        [ -n "$candidate" ] || continue
        # An activated environment's interpreter is only a link to this one, and may be the one we are about to replace.
        "$candidate" -c "import $imports
sys.version_info >= (3, 11) or sys.exit(1)
print(getattr(sys, '_base_executable', sys.executable))" 2>/dev/null && exit 0
    done
done
echo "ullage: no Python >= 3.11 found (looked for: $candidates); install one, or name it: make PYTHON=/path/to/python3" >&2
exit 1
