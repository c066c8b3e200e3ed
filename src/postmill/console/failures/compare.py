"""What do the failures share? Failures of one group beside successes of the same job type."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postmill.domain.encryption import MARK
from postmill.domain.redaction import REDACTED, redacted
from postmill.store.error_samples import Sample

APART = 0.3
"""So much more often among the failures than among the successes stands out."""

_NEARLY_ALL = 0.9
_MOST = 8
_LONGEST = 60
_RARE = 0.1


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the failures, and of the successes, have one value: `count` failures with it, `well` successes. `fine` None:
    there are no successes to compare with.
    """

    value: str
    count: int
    failed: float
    fine: float | None
    well: int = 0

    @property
    def stands_out(self) -> bool:
        """Nearly all failures have it, and far fewer of the successes."""
        return self.fine is not None and self.failed >= _NEARLY_ALL and self.failed - self.fine >= APART


@dataclass(frozen=True, slots=True)
class Comparison:
    """One dimension, such as the host: its values, the most failures first. `known`: of how many of the `looked` failures its
    value is known."""

    name: str
    shares: list[Share]
    known: int = 0
    looked: int = 0

    @property
    def says_nothing(self) -> bool:
        """All failures and all successes have the same one value, so that it tells nothing."""
        return len(self.shares) == 1 and self.shares[0].failed == 1.0 and self.shares[0].fine == 1.0

    @property
    def culprit(self) -> Share | None:
        """The one value that nearly all failures share, where the successes do not; None where it is known of less than half."""
        if 2 * self.known < self.looked:
            return None
        return next((one for one in self.shares if one.stands_out), None)


def shares(samples: Sequence[Sample], name: str, value: Callable[[Sample], object]) -> Comparison:
    """The values of a dimension, those of failures first, then those that only successes have; what nobody knows is left out."""
    failed = Counter(str(v) for one in samples if one.failed and (v := value(one)) is not None)
    fine = Counter(str(v) for one in samples if not one.failed and (v := value(one)) is not None)
    bad, good = sum(failed.values()), sum(fine.values())
    return Comparison(
        name,
        [
            Share(
                what[:200], failed[what], failed[what] / bad, fine[what] / good if good else None, fine[what]
            )
            for what in [
                *_most(failed),
                *_most(Counter({what: n for what, n in fine.items() if what not in failed})),
            ]
            if bad
        ],
        bad,
        sum(one.failed for one in samples),
    )


def arguments(samples: Sequence[Sample], names: Collection[str] = ()) -> list[Comparison]:
    """Arguments of which some value is far more frequent among the failures than among the successes; those furthest apart
    first. Secrets, encrypted payloads and values that are no plain ones are left out.
    """
    failed, bad = _values((one for one in samples if one.failed), names)
    fine, good = _values((one for one in samples if not one.failed), names)
    if not bad or not good:
        return []
    found: dict[str, list[Share]] = {}
    for (key, value), n in failed.items():
        share = Share(value, n, n / bad, fine[key, value] / good)
        if n > 1 and share.failed - (share.fine or 0.0) >= APART:
            found.setdefault(key, []).append(share)
    made = [
        Comparison(key, sorted(some, key=lambda one: (-one.count, one.value))[:3], bad, bad)
        for key, some in found.items()
    ]
    return sorted(made, key=lambda one: (-_apart(one), one.name))[:_MOST]


def alike(one: str | None, other: str | None) -> bool:
    """Whether two tracebacks differ in nothing but figures."""
    return re.sub("[0-9]+", "", one or "") == re.sub("[0-9]+", "", other or "")


def odd_one(samples: Sequence[Sample], but: Collection[UUID]) -> UUID | None:
    """The job whose traceback is least like the others; None where all are alike, or none is rare."""
    shapes = Counter(one.shape for one in samples if one.failed and one.shape is not None)
    if len(shapes) < 2:
        return None
    shape, n = min(shapes.items(), key=lambda one: (one[1], one[0]))
    if n > max(1, _RARE * sum(shapes.values())):
        return None
    return next((one.job_id for one in samples if one.shape == shape and one.job_id not in but), None)


def _most(counted: Counter[str]) -> list[str]:
    return [what for what, _ in counted.most_common(_MOST)]


def _apart(one: Comparison) -> float:
    return max(share.failed - (share.fine or 0.0) for share in one.shares)


def _values(samples: Iterable[Sample], names: Collection[str]) -> tuple[Counter[tuple[str, str]], int]:
    found: Counter[tuple[str, str]] = Counter()
    n = 0
    for one in samples:
        payload = _read(one.payload)
        if payload is None:
            continue
        n += 1
        for key, value in redacted(payload, names).items():
            if value != REDACTED and (value is None or isinstance(value, str | int | float | bool)):
                text = value if isinstance(value, str) else json.dumps(value)
                if len(text) <= _LONGEST:
                    found[str(key)[:_LONGEST], text] += 1
    return found, n


def _read(payload: str | None) -> dict[str, Any] | None:
    try:
        found = None if payload is None else json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and MARK not in found else None
