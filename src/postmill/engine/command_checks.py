"""What a command may be given: argv and environment as bytes for `execve`, or a refusal that says why (case 105)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from postmill.domain.errors import PostmillError

_LOADER = ("LD_", "DYLD_", "BASH_ENV", "BASH_FUNC_")
"""Variables that make another program out of any program. They pass only if `env_allow` names them."""


class CommandRefused(PostmillError, ValueError):
    """A command cannot be run as it is written; nothing was started."""


def argv_bytes(argv: Sequence[str]) -> list[bytes]:
    """The arguments, byte for byte. Raises CommandRefused."""
    if isinstance(argv, str | bytes):
        raise CommandRefused("argv is a sequence of arguments, not one text: no shell will split it")
    made = [_bytes(argument, f"argument {n}") for n, argument in enumerate(argv)]
    if not made or not made[0]:
        raise CommandRefused("argv names no program")
    return made


def env_bytes(
    env: Mapping[str, str], allow: Sequence[str], inherited: Mapping[str, str]
) -> dict[bytes, bytes]:
    """The whole environment: what is allowed of the inherited one, and over it the command's own."""
    chosen = {name: inherited[name] for name in allow if name in inherited} | dict(env)
    for name in env:
        if name.startswith(_LOADER) and name not in allow:
            raise CommandRefused(
                f"environment variable {name!r} decides which code a program loads; only env_allow can let it pass"
            )
    return {_name(name): _bytes(value, f"environment variable {name!r}") for name, value in chosen.items()}


def _name(name: object) -> bytes:
    if not isinstance(name, str) or not name or "=" in name:
        raise CommandRefused(f"{name!r} is no name of an environment variable")
    return _bytes(name, f"the name of environment variable {name!r}")


def _bytes(value: object, what: str) -> bytes:
    if not isinstance(value, str):
        raise CommandRefused(f"{what} must be text, not {type(value).__name__}")
    if "\0" in value:
        raise CommandRefused(f"{what} holds a NUL character, which no program can be given")
    try:
        # As Python itself does for names of files: bytes that are no UTF-8 travel as surrogates.
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise CommandRefused(f"{what} holds a lone surrogate") from None
