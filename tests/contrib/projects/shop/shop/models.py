"""What the shop keeps."""

from django.db import models


class Order(models.Model):
    """An order; `receipts` counts what its job did."""

    cents = models.IntegerField()
    receipts = models.IntegerField(default=0)
    job_id = models.UUIDField(null=True)
