"""`python -m examples.enrichment`: the demo."""

import sys

from examples.enrichment.demo.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
