"""What can go wrong with Dropbox, by what to do about it."""

from __future__ import annotations


class DropboxError(Exception):
    """Dropbox did not do what was asked."""


class Unavailable(DropboxError):
    """No answer, 5xx or 429 after all attempts: worth another attempt later."""


class Unauthorized(DropboxError):
    """The token is refused: nothing helps but to connect anew."""


class CursorReset(DropboxError):
    """The cursor is refused: list from the beginning."""


class Refused(DropboxError):
    """Anything else that the endpoint answers with 4xx."""


class NotFound(Refused):
    """There is no such file or folder, or not any more."""
