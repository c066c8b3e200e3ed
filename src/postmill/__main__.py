"""`python -m postmill`: the same as the command `postmill`."""

from postmill.cli.main import main

if __name__ == "__main__":
    main()
