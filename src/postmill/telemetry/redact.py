"""What must not be seen in logs: values under keys that look like secrets, and secrets inside of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

REDACTED = "[redacted]"

MAX_DEPTH = 8
MAX_ITEMS = 50
MAX_TEXT = 1_000
"""Characters of a text that are kept; what is cut is marked by `…`."""

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


def safe_text(text: str, limit: int = MAX_TEXT) -> str:
    """`text` without secrets and terminal controls, at most `limit` characters and a mark of the cut."""
    cut = text[: 2 * limit + 1_000]  # so that a secret across the edge is seen whole
    lower = cut.lower()
    for needles, pattern, replacement in _SECRET_TEXTS:
        # Plain text is looked for first, 40 times as fast: most lines hold nothing to hide.
        if any(needle in lower for needle in needles):
            cut = pattern.sub(replacement, cut)
    cut = printable(cut)
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
