"""The link to the console in the admin, where the settings name one."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from postmill.contrib.django.console import console_url
from postmill.contrib.django.models import Console


class ConsoleAdmin(admin.ModelAdmin):
    """Nothing can be changed here: its list is the console."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Leads to the console."""
        url = console_url()
        if url is None or not self.has_view_permission(request):
            raise PermissionDenied
        return HttpResponseRedirect(url)


if console_url() is not None:
    admin.site.register(Console, ConsoleAdmin)
