"""What nobody may see: values under keys that look like secrets, and secrets inside of texts.

`redact` is for lines of a log (bounded), `redacted` for payloads and results as people read them (whole), `redacted_text` for
errors and the tails of outputs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

REDACTED = "[redacted]"

MAX_DEPTH = 8
MAX_ITEMS = 50
MAX_TEXT = 1_000
"""Characters of a text that are kept; what is cut is marked by `…`."""

_DEEPEST = 500

SHORTEST = 4
"""Characters of a secret that is looked for in other texts."""

_STEMS = ("password", "passwd", "passphrase", "secret", "credential", "apikey", "accesskey", "privatekey",
          "encryptionkey", "signingkey", "routingkey", "integrationkey", "pagerdutykey", "authorization",
          "cookie", "bearer", "webhookurl")  # fmt: skip
"""A key that holds one of these, in whatever case and with whatever between its words, names a secret."""

_LAST_WORDS = frozenset(
    {"token", "pwd", "pin", "otp", "jwt", "dsn", "auth", "webhook", "ssn", "cvv", "cvc", "iban"}
)
"""A key whose last word is one of these names a secret; `token_count` and `max_tokens` do not."""

_WORD = re.compile(r"[a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_NAMES = r"password|passwd|passphrase|secret|token|authorization|api[-_]?key|access[-_]?key|private[-_]?key"
_VALUE = r"""(?:(?:bearer|basic)\s+)?(?:"[^"]{1,500}"|'[^']{1,500}'|(?!\[redacted\])[^\s"'&,;)}\]]{1,500})"""
_SECRET_TEXTS = tuple(
    (needles.split(), re.compile(pattern, re.IGNORECASE | re.DOTALL), replacement)
    for needles, pattern, replacement in (
        # scheme://user:password@host
        ("://", r"(\b[a-z][a-z0-9+.-]{1,30}://[^\s:/@]{0,200}:)[^\s/\"']{1,500}(?=@)", rf"\1{REDACTED}"),
        # password=…, "token": "…", Authorization: Bearer …
        (
            "passw passphrase secret token authorization key",
            rf"((?:{_NAMES})[\"']?\s{{0,3}}[=:]\s{{0,3}}){_VALUE}",
            rf"\1{REDACTED}",
        ),
        ("bearer", r"\b(bearer)\s+(?=[a-z+/=._~-]*\d)[a-z0-9+/=._~-]{12,}", rf"\1 {REDACTED}"),
        # JSON web tokens, and keys of well-known makers
        ("eyj", r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*", REDACTED),
        (
            "sk- sk_ rk- rk_ pk- pk_ ghp_ gho_ ghs_ github_pat_ xox glpat-",
            r"\b(?:[srp]k|gh[pos]|github_pat|xox[abprs]|glpat)[-_][\w-]{16,}",
            REDACTED,
        ),
        ("akia", r"\bAKIA[0-9A-Z]{16}\b", REDACTED),
        ("sl.", r"\bsl\.(?:[a-z]\.)?[\w-]{40,}", REDACTED),
        # our own API keys
        ("pm_", r"\bpm_[\w-]{43}(?![\w-])", REDACTED),
        (
            "-----begin",
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)",
            REDACTED,
        ),
    )
)
"""What gives a pattern away in lower case, the pattern, and what takes its place."""

# Controls but tab and newline (ESC and C1 drive terminals), lone surrogates, and what turns text around.
_NO_NAME = re.compile(r"[^\w.-]")
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def secret_key(key: str) -> bool:
    """Whether a key names a secret, as `api_key`, `dbPassword` and `Authorization` do."""
    words = _WORD.findall(_CAMEL.sub("_", key[:200]).lower())
    joined = "".join(words)
    return any(stem in joined for stem in _STEMS) or (words[-1:] != [] and words[-1] in _LAST_WORDS)


def printable(text: str) -> str:
    """`text` with each character that could drive a terminal, or cannot be encoded, replaced by U+FFFD."""
    return text if text.isprintable() else _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def field_name(name: object) -> str:
    """A name for a field of a line: letters, digits, `_`, `.` and `-`, at most 100 characters."""
    return _NO_NAME.sub("_", _text(name)[:100])


def redacted_text(text: str, values: Collection[str] = ()) -> str:
    """`text` without what looks like a secret, and without the `values` that are known to be ones."""
    lower = text.lower()
    for needles, pattern, replacement in _SECRET_TEXTS:
        # Plain text is looked for first, 40 times as fast: most texts hold nothing to hide.
        if any(needle in lower for needle in needles):
            text = pattern.sub(replacement, text)
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, REDACTED)
    return text


def redacted(value: Any, names: Collection[str] = (), depth: int = 0) -> Any:
    """A copy of JSON data without secrets: those under keys that look like one or are among `names`, and in texts.

    Below 500 levels, which plain SQL alone can store, it is cut.
    """
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {
            key: REDACTED if hidden(key, inner, names) else redacted(inner, names, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [redacted(inner, names, depth + 1) for inner in value]
    return redacted_text(value) if isinstance(value, str) else value


def secrets_in(value: Any, names: Collection[str] = (), path: str = "args") -> Iterator[tuple[str, Any]]:
    """Path and value of everything in JSON data under a key that looks like a secret or is among `names`."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            at = f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]"
            if hidden(key, inner, names):
                yield at, inner
            else:
                yield from secrets_in(inner, names, at)
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield from secrets_in(inner, names, f"{path}[{n}]")


def secret_values(value: Any, names: Collection[str] = ()) -> set[str]:
    """The texts that `secrets_in` finds, to be looked for in outputs; those of less than 4 characters are too common."""
    found: set[str] = set()
    waiting = [inner for _, inner in secrets_in(value, names)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str) and len(item) >= SHORTEST:
            found.add(item)
    return found


def hidden(key: str, value: Any, names: Collection[str]) -> bool:
    """Whether what lies under a key is kept secret. Whether there is one (`has_password: true`) is no secret."""
    return value is not None and not isinstance(value, bool) and (key in names or secret_key(key))


def safe_text(text: str, limit: int = MAX_TEXT) -> str:
    """`text` without secrets and terminal controls, at most `limit` characters and a mark of the cut."""
    cut = text[: 2 * limit + 1_000]  # so that a secret across the edge is seen whole
    cut = printable(redacted_text(cut))
    return cut if len(cut) <= limit and len(text) <= 2 * limit + 1_000 else cut[:limit] + "…"


def redact(value: Any, *, key: str | None = None, depth: int = 0) -> Any:
    """A copy of `value` (found under `key`) that may be logged: JSON values only, bounded, without secrets.

    Never raises: what cannot be read is shown by its type.
    """
    if key is not None and value is not None and secret_key(key):
        return REDACTED
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else _text(value)
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        if depth >= MAX_DEPTH:
            return "…"
        return _mapping(value, depth) if isinstance(value, Mapping) else _items(value, depth)
    return _text(value)


def _mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, inner in value.items():
        if len(made) >= MAX_ITEMS:
            made["…"] = f"{len(value) - MAX_ITEMS} more"
            break
        name = _text(key)
        made[name] = redact(inner, key=name, depth=depth + 1)
    return made


def _items(value: list[Any] | tuple[Any, ...] | set[Any] | frozenset[Any], depth: int) -> list[Any]:
    shown = [redact(inner, depth=depth + 1) for _, inner in zip(range(MAX_ITEMS), value, strict=False)]
    return [*shown, f"… {len(value) - MAX_ITEMS} more"] if len(value) > MAX_ITEMS else shown


def _text(value: object) -> str:
    try:
        return safe_text(str(value))
    except Exception:
        return f"<{type(value).__name__}>"
