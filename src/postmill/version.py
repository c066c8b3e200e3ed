"""The version of this package, from its metadata."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _version() -> str:
    try:
        return version("postmill")
    except PackageNotFoundError:
        return "0.0.0"


VERSION = _version()
