"""The files that pages refer to."""

from __future__ import annotations

from fastapi import APIRouter

STATIC = "/static/"

router = APIRouter()


def asset(name: str) -> str:
    """Its path below our root."""
    return f"{STATIC}{name}"
