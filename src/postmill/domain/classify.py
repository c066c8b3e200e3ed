"""Is an error worth another attempt? By the job type's rules, exception type, HTTP status and errno."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from postmill.domain.error_facts import Facts, facts_of, leaves
from postmill.domain.error_names import class_names
from postmill.domain.errors import (
    DefinitionError,
    PayloadRefused,
    SettingsError,
    Undecodable,
    WorkflowRefused,
)

Match = type[BaseException] | int | range | str | Callable[[BaseException], bool]
"""What a rule looks at: an exception class (subclasses too), an HTTP status or a range of them, an error code
or the name of a class, or a function of the error."""

# Besides 5xx (seed 4, section 3; RFC 8470 for 425).
RETRYABLE_STATUS = frozenset({408, 425, 429})

# Trying again cannot change these. ENOENT is not among them: files arrive late on shared disks.
_PERMANENT_ERRNO = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}
)
_PERMANENT_TYPES = (
    Undecodable,
    PayloadRefused,
    WorkflowRefused,
    DefinitionError,
    SettingsError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class ErrorVerdict:
    """What an error means for the job.

    `error_class` is its name (`TimeoutError`, `httpx.ReadTimeout`), `error_code` a code that it carries (an
    SQLSTATE, an errno's name, a provider's code), `status` an HTTP status, `retry_after` the seconds a server
    asked for.
    """

    retryable: bool
    error_class: str
    error_code: str | None = None
    status: int | None = None
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: errors that fit `match` are retried, or are not."""

    match: Match
    retryable: bool

    def fits(self, error: BaseException, facts: Facts) -> bool:
        """Whether the rule speaks of this error. A function that raises does not: errors end here."""
        match = self.match
        if isinstance(match, type):
            return isinstance(error, match)
        if isinstance(match, int):
            return facts.status == match
        if isinstance(match, range):
            return facts.status in match
        if isinstance(match, str):
            return match == facts.code or match in class_names(error, None)
        try:
            return bool(match(error))
        except Exception:
            return False


@dataclass(frozen=True, slots=True)
class Classifier:
    """Ordered rules that come before the built-in ones; the first that fits decides.

        Classifier().permanent(InvoiceGone, 410).transient("insufficient_quota")

    A rule is a class of errors (subclasses too), an HTTP status or a `range` of them, the code or class name that an error
    carries, or a function of the error.

    An exception class may also say it itself, by a boolean attribute `retryable`.
    """

    rules: tuple[Rule, ...] = ()

    def permanent(self, *matches: Match) -> Classifier:
        """A copy that gives up on these errors at once."""
        return Classifier(self.rules + tuple(Rule(match, False) for match in matches))

    def transient(self, *matches: Match) -> Classifier:
        """A copy that tries again after these errors."""
        return Classifier(self.rules + tuple(Rule(match, True) for match in matches))

    def verdict(self, error: BaseException, *, now: datetime | None = None) -> ErrorVerdict:
        """The verdict on `error`; `now` (aware) is needed to read dates in Retry-After. Never raises.

        A group of errors is retryable only if each of them is.
        """
        verdicts = list(self._each(error, now))
        if len(verdicts) == 1:
            return verdicts[0]
        waits = [v.retry_after for v in verdicts if v.retry_after is not None]
        return ErrorVerdict(
            all(v.retryable for v in verdicts),
            next(class_names(error, None)),
            next((v.error_code for v in verdicts if v.error_code), None),
            next((v.status for v in verdicts if v.status), None),
            max(waits, default=None),
        )

    def _each(self, error: BaseException, now: datetime | None) -> Iterator[ErrorVerdict]:
        for leaf in leaves(error):
            facts = facts_of(leaf, now)
            retryable = self._retryable(leaf, facts)
            yield ErrorVerdict(
                retryable, next(class_names(leaf, None)), facts.code, facts.status, facts.retry_after
            )

    def _retryable(self, error: BaseException, facts: Facts) -> bool:
        for rule in self.rules:
            if rule.fits(error, facts):
                return rule.retryable
        if facts.retryable is not None:
            return facts.retryable
        if isinstance(error, _PERMANENT_TYPES):
            return False
        if facts.status is not None:
            return facts.status in RETRYABLE_STATUS or facts.status >= 500
        return not (isinstance(error, OSError) and error.errno in _PERMANENT_ERRNO)


DEFAULT_CLASSIFIER = Classifier()


def classify(
    error: BaseException, *, now: datetime | None = None, classifier: Classifier | None = None
) -> ErrorVerdict:
    """The verdict on `error` by `classifier`'s rules and then the built-in ones."""
    return (classifier or DEFAULT_CLASSIFIER).verdict(error, now=now)
