"""Which errors of an embedding are worth another attempt, and when."""

from __future__ import annotations

from postmill import Classifier, Exponential

ATTEMPTS = 5

RETRY = Exponential(base=2, factor=2, cap=300, jitter=(0.8, 1.2))
"""After the n-th attempt 2 s · 2^(n − 1), at most 5 min, ± 20 %. A wait that the API asks for wins."""

CLASSIFIER = Classifier().permanent(400, 401, 404).transient(range(400, 600))
"""Bad request, invalid API key, unknown model: never again. Any other status, and whatever has none: again."""


def should_retry(error: Exception, attempt: int) -> bool:
    """Whether the attempt is followed by another one. `attempt` counts from 1."""
    return CLASSIFIER.verdict(error).retryable and attempt < ATTEMPTS
