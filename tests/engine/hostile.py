"""Values that an attacker would put into a payload (cases 69, 75, 105), many of each kind."""

from __future__ import annotations

from itertools import product

_HARM = (
    "touch {pwn}",
    "; touch {pwn}",
    "& touch {pwn} &",
    "| touch {pwn}",
    "|| touch {pwn}",
    "$(touch {pwn})",
    "`touch {pwn}`",
    "\ntouch {pwn}\n",
    "'; touch {pwn}; '",
    '"; touch {pwn}; "',
    "\\'; touch {pwn}",
    "${{IFS}}touch${{IFS}}{pwn}",
    "> {pwn}",
    "<(touch {pwn})",
    "{{{{7*7}}}}",
    "%n%s%x%1000000c",
    "../../../../{pwn}",
    "/proc/self/environ",
    "~root",
    "$HOME $PATH $LD_PRELOAD",
    "*",
    "?[a-z]{{a,b}}",
    "{{payload.value}}",
    "{{tenant_id}}",
)
_AROUND = (
    *("{}", " {}", "{} ", "a{}b", "x={}", "'{}'", '"{}"', "{}\t\r\x0b", "\x1b[31m{}\x7f"),
    *("{}\N{RIGHT-TO-LEFT OVERRIDE}", "é{}\N{PILE OF POO}"),
)

_OPTIONS = (
    *("-", "--", "-rf", "--help", "--output=/etc/x", "-o/etc/x", "--config", "-c", "--eval=1", "-\n", "- -"),
    *("-0", "--=", "-e;id"),
)

_TEXTS = (
    "",
    " ",
    "\n",
    "\t",
    "\\",
    "'",
    '"',
    "a\\u0000b",
    "\ufeff",
    "\u2028",
    "x" * 4096,
    "x" * 131_071,
    "é" * 60_000,
)

_NO_TEXT = ("a\0b", "\0", "\ud800", "ab\udfff", "x" * 131_072, "é" * 70_000, "x" * 1_048_000)


def harmless(pwn: str) -> list[str]:
    """What a command is given, exactly as it is."""
    harm = [around.format(text.format(pwn=pwn)) for text, around in product(_HARM, _AROUND)]
    return [*harm, *_TEXTS]


def refused() -> list[str]:
    """What no command is given: options, and what no argument can hold."""
    return [*_OPTIONS, *(f"-{text}" for text in ("a", "é", " ", "x" * 1000)), *_NO_TEXT]
