"""`python -m examples.yellowbook`: the demo."""

import sys

from examples.yellowbook.demo.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
