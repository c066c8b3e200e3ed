"""Errors that are alike: a fingerprint of job type, class, message without what differs, and the user's own code."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from postmill.domain.error_record import ErrorRecord

MESSAGE_CHARACTERS = 1000
"""So much of a message is looked at."""

_PARTS = re.compile(
    r"(?P<quoted>(?<!\w)(?P<q>['\"`])(?:(?!(?P=q)).){0,400}(?P=q)(?!\w))"
    r"|\w+://\S+"  # an address
    r"|\S+@\S+\.\w+"  # mail
    r"|(?:\b[A-Za-z]:|(?<!\w)[.~\w-]*)[/\\]\S+"  # a path
    r"|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"  # a UUID
    r"|\b0[xX][0-9a-fA-F]+\b"
    r"|\b(?=[a-fA-F]*\d)[0-9a-fA-F]{8,}\b"  # a digest
    r"|\d(?:[\d.,:_-]*\d)?",  # a number, a date, a time
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """What errors of one group have in common. `id` is 16 hexadecimal digits."""

    job_type: str
    error_class: str
    message: str = ""
    frame: str = ""

    @property
    def id(self) -> str:
        """The fingerprint; the database's `error_group_id` computes the same."""
        text = "\n".join((self.job_type, self.error_class, self.message, self.frame))
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:16]


def group_of(job_type: str, error: ErrorRecord) -> ErrorGroup:
    """The group of a stored error."""
    return ErrorGroup(job_type, error.error_class, normalized(error.message), error.frame)


def other_group(job_type: str) -> ErrorGroup:
    """The one group for all further errors of a job type that has too many already."""
    return ErrorGroup(job_type, "other")


def normalized(message: str) -> str:
    """A message with `*` for numbers, quoted text, ids, digests, addresses and paths; at most 300 characters."""
    text = _PARTS.sub("*", message[:MESSAGE_CHARACTERS])
    return " ".join(text.split())[:300]
