from tests.cli.conftest import here

__all__ = ["here"]
