"""`manage.py postmill …`: the command line of Postmill on the project's database."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError

from postmill.contrib.django.conf import config
from postmill.contrib.django.database import conninfo
from postmill.contrib.launching import become_postmill
from postmill.store.catalog import DEFAULT_SCHEMA

OF_DJANGO = ("--settings", "--pythonpath")


class Command(BaseCommand):
    """Hands every word and option on; `manage.py postmill --help` lists the commands."""

    help = "The command line of Postmill on the project's database, for example: manage.py postmill jobs list"
    requires_system_checks: Sequence[str] = []
    first: tuple[str, ...] = ()

    def run_from_argv(self, argv: list[str]) -> NoReturn:
        """Replaces this process, so that signals and exit codes are those of the command line."""
        found = config()
        schema = {"POSTMILL_SCHEMA": found.schema} if found.schema != DEFAULT_SCHEMA else {}
        env = {"DJANGO_SETTINGS_MODULE": os.environ["DJANGO_SETTINGS_MODULE"], **schema}
        become_postmill([*self.first, *without_django(argv[2:])], conninfo(), env)

    def handle(self, *args: Any, **options: Any) -> None:
        """Only for `call_command`, which would lose its process."""
        raise CommandError("postmill takes the place of its process: start it by manage.py")


def without_django(words: Sequence[str]) -> list[str]:
    """The words without options of every Django command, which manage.py has heeded already."""
    left: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in OF_DJANGO:
            next(rest, None)
        elif not word.startswith(tuple(f"{option}=" for option in OF_DJANGO)):
            left.append(word)
    return left
