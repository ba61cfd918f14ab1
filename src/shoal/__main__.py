# SPDX-License-Identifier: Apache-2.0
"""``python -m shoal`` is the command line."""

from shoal.cli import main

if __name__ == "__main__":  # a process that is started anew imports this file too
    main()
