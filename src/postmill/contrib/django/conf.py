"""The setting POSTMILL of a Django project."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from postmill.domain.errors import SettingsError
from postmill.domain.suggest import did_you_mean
from postmill.store.catalog import DEFAULT_SCHEMA, checked_schema


@dataclass(frozen=True, slots=True)
class DjangoConfig:
    """`POSTMILL = {"DATABASE": "default", …}`; everything may be left out.

    Attributes:
        database: alias of the database that holds Postmill's schema. Default: Django's default one.
        schema: Postmill's schema there.
        modules: where jobs and tasks are: names without a dot are looked for in each installed app, others are
            imported as they are. Default: `jobs` and `tasks` of each app.
        migrate: whether `manage.py migrate` brings Postmill's schema up to date as well. Default true.
        console_url: address of the console's pages (`https://…/ops`, `https://…/t/acme`); the admin links to it.
    """

    database: str = "default"
    schema: str = DEFAULT_SCHEMA
    modules: tuple[str, ...] = ("jobs", "tasks")
    migrate: bool = True
    console_url: str | None = None


KEYS = tuple(field.name.upper() for field in dataclasses.fields(DjangoConfig))


def config() -> DjangoConfig:
    """What the project's settings say now.

    Raises:
        ImproperlyConfigured: POSTMILL is no dict, or holds an unknown key or a value that cannot be.
    """
    given = getattr(settings, "POSTMILL", {})
    if not isinstance(given, dict):
        raise ImproperlyConfigured(f"POSTMILL must be a dict with keys among {', '.join(KEYS)}")
    made: dict[str, Any] = {}
    for key, value in given.items():
        if key not in KEYS:
            hint = did_you_mean(str(key), KEYS, noun="keys")
            raise ImproperlyConfigured(f"POSTMILL has no key {key!r}{hint}")
        made[key.lower()] = _checked(key, value)
    return DjangoConfig(**made)


def _checked(key: str, value: Any) -> Any:
    if key == "MODULES":
        if isinstance(value, str) or not all(isinstance(name, str) for name in value):
            raise ImproperlyConfigured(f"POSTMILL, MODULES: must be a list of names, not {value!r}")
        return tuple(value)
    if key == "MIGRATE" and not isinstance(value, bool):
        raise ImproperlyConfigured(f"POSTMILL, MIGRATE: must be True or False, not {value!r}")
    if key in ("DATABASE", "SCHEMA") and not isinstance(value, str):
        raise ImproperlyConfigured(f"POSTMILL, {key}: must be text, not {value!r}")
    if key == "SCHEMA":
        try:
            return checked_schema(value)
        except SettingsError as fault:
            raise ImproperlyConfigured(f"POSTMILL, SCHEMA: {fault}") from None
    return value
