"""The web console: pages for people, on the application of the API."""

from __future__ import annotations

from postmill.console.app import create_app

__all__ = ["create_app"]
