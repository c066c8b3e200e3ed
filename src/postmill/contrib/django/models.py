"""The one model: a line in the admin that leads to the console. It has no table."""

from __future__ import annotations

from django.db import models


class Console(models.Model):
    """Whoever may view it (permission `postmill.view_console`) finds the link in the admin."""

    class Meta:
        managed = False
        default_permissions = ("view",)
        verbose_name = "console"
        verbose_name_plural = "console"
