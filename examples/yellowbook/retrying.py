"""Which errors of an embedding are worth another attempt, and when."""

from __future__ import annotations

from postmill.domain.classify import Classifier
from postmill.domain.curves import YELLOWBOOK

RETRY = YELLOWBOOK
"""5 attempts; after the n-th 2 s · 2^(n − 1), at most 5 min, ± 20 %. A wait that the API asks for wins."""

CLASSIFIER = Classifier().permanent(400, 401, 404).transient(range(400, 600))
"""Bad request, invalid API key, unknown model: never again. Any other status, and whatever has none: again."""


def should_retry(error: Exception, attempt: int) -> bool:
    """Whether the attempt is followed by another one. `attempt` counts from 1."""
    return CLASSIFIER.verdict(error).retryable and attempt < RETRY.max_attempts
