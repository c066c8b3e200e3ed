"""`python -m examples.homepage`: the demo."""

import sys

from examples.homepage.demo.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
