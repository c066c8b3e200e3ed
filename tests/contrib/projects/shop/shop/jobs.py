"""Job types of the shop."""

import os

from django.db import transaction

from postmill import Context, job
from shop.models import Order


@job
def send_receipt(order: int) -> None:
    """By Django's connection, in a thread of the worker."""
    Order.objects.filter(id=order).update(receipts=1)


@job
async def send_receipt_async(order: int) -> None:
    """By Django's async queries."""
    await Order.objects.filter(id=order).aupdate(receipts=1)


@job(isolation="process")
def send_receipt_apart(order: int) -> int:
    """In a process of its own, which has to set Django up."""
    Order.objects.filter(id=order).update(receipts=1)
    return os.getppid()


@job
def charge(ctx: Context, order: int) -> None:
    """Effect and success are one commit, on Django's own connection."""
    with transaction.atomic():
        Order.objects.filter(id=order).update(receipts=1)
        from django.db import connection

        ctx.complete(connection, result="charged")
