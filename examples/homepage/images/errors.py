"""Why a picture is not taken."""

from __future__ import annotations


class ImageRefused(Exception):
    """It never will be, however often it is tried. `reason` is one word for programs; the message says more."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
