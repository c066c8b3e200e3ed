"""`python -m examples.planner`: the demo."""

import sys

from examples.planner.demo.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
