"""The Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import pre_migrate

from postmill.contrib.django.checking import check_settings
from postmill.contrib.django.migrating import migrate_before


class PostmillConfig(AppConfig):
    """Hooks into `manage.py migrate` and `manage.py check`."""

    name = "postmill.contrib.django"
    label = "postmill"
    verbose_name = "Postmill"

    def ready(self) -> None:
        """Connect the hooks."""
        pre_migrate.connect(migrate_before, sender=self, dispatch_uid="postmill")
        checks.register(check_settings)
