"""What `manage.py check` says about POSTMILL."""

from __future__ import annotations

from typing import Any

from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db.utils import ConnectionDoesNotExist

from postmill.contrib.django.database import connection


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    """Errors in the setting POSTMILL; no database is asked."""
    try:
        connection()
    except (ImproperlyConfigured, ConnectionDoesNotExist) as fault:
        return [checks.Error(str(fault), id="postmill.E001")]
    return []
