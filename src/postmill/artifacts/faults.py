"""What a store raises, in words of ours and without its secrets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from postmill.domain.errors import ArtifactStoreFailed, PostmillError
from postmill.domain.redaction import SHORTEST, redacted_text
from postmill.domain.text import clean

_MOST = 500  # characters of what the store said


@contextmanager
def worded(
    what: str,
    secrets: Collection[str],
    store: str = "the store of artifacts",
    kind: type[PostmillError] = ArtifactStoreFailed,
) -> Iterator[None]:
    """Whatever goes wrong inside is ArtifactStoreFailed, or another `kind`: the store could not do `what`.

    Implementations raise what their libraries do, so every Exception counts.
    """
    try:
        yield
    except PostmillError:
        raise
    except Exception as error:
        said = redacted_text(clean(str(error), _MOST), secrets)
        raise kind(f"{store} could not {what}: {type(error).__name__}: {said}") from None


def texts_in(value: object) -> set[str]:
    """Texts among the options of a store, which may be credentials; what is too short to be one would hide words."""
    if isinstance(value, Mapping):
        return set().union(*map(texts_in, value.values()))
    if isinstance(value, list):
        return set().union(*map(texts_in, value))
    return {value} if isinstance(value, str) and len(value) >= SHORTEST else set()
