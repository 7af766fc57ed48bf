# SPDX-License-Identifier: Apache-2.0
"""``python -m ullage`` is the same as ``ullage``."""

from ullage.cli.app import main

if __name__ == "__main__":
    main()
