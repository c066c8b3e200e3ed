"""The HTTP control plane: a FastAPI application under `/api/v1`."""

from __future__ import annotations

from postmill.api.app import create_app

__all__ = ["create_app"]
