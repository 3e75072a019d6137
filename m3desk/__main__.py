"""`python -m m3desk`: the same as the command `m3desk`."""

import sys

from m3desk.cli import main

if __name__ == "__main__":
    sys.exit(main())
