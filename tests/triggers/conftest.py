"""The application of the API's tests, for those of triggers."""

from __future__ import annotations

from tests.api.conftest import api, api_database

__all__ = ["api", "api_database"]
