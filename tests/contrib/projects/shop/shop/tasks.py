"""Tasks of the shop."""

import django

from shop.models import Order

if django.VERSION >= (6,):
    from django.tasks import task
else:
    from django_tasks import task


@task
def receipt(order: int, *, note: str = "") -> dict:
    """The backend's options hold."""
    Order.objects.filter(id=order).update(receipts=1)
    return {"order": order, "note": note}


@task(takes_context=True, priority=10, queue_name="low")
async def flaky(context, until: int) -> int:
    """Fails until an attempt."""
    if context.attempt < until:
        raise ValueError(f"attempt {context.attempt}")
    return context.attempt


@task(max_attempts=1, timeout=30, job_type="shop.broken", aliases=["shop.old_broken"])
def broken() -> None:
    """With options of its own."""
    raise LookupError("always")
