"""Which setting is in force, and where it comes from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from postmill.cli.database import described
from postmill.cli.given import Given
from postmill.domain import duration
from postmill.domain.errors import SettingsError
from postmill.domain.settings import Settings
from postmill.domain.settings_load import FILES, PATH_VARIABLE, PREFIX, load
from postmill.domain.settings_types import Section, is_length

DEFAULT = "default"
HIDDEN = "(hidden)"


class Length(float):
    """Seconds, shown to people as they are written: `30d`."""

    def __str__(self) -> str:
        return duration.written(self)


@dataclass(frozen=True, slots=True)
class Setting:
    """One line: key, value (secrets hidden, a database without its password), and its source."""

    key: str
    value: Any
    source: str


def effective(settings: Settings, given: Given, env: Mapping[str, str] | None = None) -> list[Setting]:
    """Every setting that is in force, in the order of the reference."""
    variables = os.environ if env is None else env
    in_file = _set_in_file(given, variables)
    named = _file_name(given, variables)
    return [
        Setting(key, shown(value, key), _source(key, given, variables, in_file, named))
        for key, value in walk(settings)
    ]


def walk(section: Section, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Key and value of every setting, maps by their names."""
    for name, field in type(section).model_fields.items():
        key, value = f"{prefix}{field.alias or name}", getattr(section, name)
        if isinstance(value, Section):
            yield from walk(value, f"{key}.")
        elif isinstance(value, dict):
            for entry, inner in value.items():
                yield from walk(inner, f"{key}.{entry}.")
        else:
            yield key, Length(value) if is_length(field) and value is not None else value


def shown(value: Any, key: str) -> Any:
    """A value as it may be seen."""
    if not isinstance(value, SecretStr):
        return value
    return described(value.get_secret_value()) if key in ("database_url", "listen_url") else HIDDEN


def _source(
    key: str, given: Given, variables: Mapping[str, str], in_file: frozenset[str] | None, named: str | None
) -> str:
    if (key == "database_url" and given.dsn) or (key == "schema" and given.schema):
        return "command line"
    wanted = _fold(key.replace(".", "__"))
    for variable in sorted(variables):
        if variable.upper().startswith(PREFIX) and variable != PATH_VARIABLE and variables[variable].strip():
            parts = variable[len(PREFIX) :]
            if _fold(parts) == wanted or wanted.startswith(_fold(f"{parts}__")):
                return variable
    if named is not None and (in_file is None or key in in_file):
        return named
    return DEFAULT


def _fold(key: str) -> str:
    return re.sub(r"\W", "_", key.casefold())


def _file_name(given: Given, variables: Mapping[str, str]) -> str | None:
    path = given.config or variables.get(PATH_VARIABLE)
    return str(path) if path else next((name for name in FILES if Path(name).is_file()), None)


def _set_in_file(given: Given, variables: Mapping[str, str]) -> frozenset[str] | None:
    """The keys that the file sets; None where it does not stand alone (the environment completes it)."""
    kept = {
        name: value
        for name, value in variables.items()
        if not name.upper().startswith(PREFIX) or name == PATH_VARIABLE
    }
    try:
        alone = load(given.config, env=kept)
    except SettingsError:
        return None
    return frozenset(_set_keys(alone))


def _set_keys(section: Section, prefix: str = "") -> Iterator[str]:
    for name in section.model_fields_set:
        key, value = f"{prefix}{type(section).model_fields[name].alias or name}", getattr(section, name)
        if isinstance(value, Section):
            yield from _set_keys(value, f"{key}.")
        elif isinstance(value, dict):
            for entry, inner in value.items():
                yield from _set_keys(inner, f"{key}.{entry}.")
        else:
            yield key
