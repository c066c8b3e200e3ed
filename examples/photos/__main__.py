"""`python -m examples.photos`: the demo."""

import sys

from examples.photos.demo.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
