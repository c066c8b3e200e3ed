"""Orders in the admin, with a link to their job."""

from django.contrib import admin

from postmill.contrib.django import job_link
from shop.models import Order


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ("id", "cents", "job")

    def job(self, order: Order) -> str:
        """A link to the console."""
        return job_link(order.job_id)
