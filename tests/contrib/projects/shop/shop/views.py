"""Views, under ATOMIC_REQUESTS."""

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from postmill.contrib.django import aenqueue, enqueue
from shop.jobs import send_receipt, send_receipt_async
from shop.models import Order
from shop.tasks import receipt


def order(request: HttpRequest) -> HttpResponse:
    """Writes an order, a job and a task; breaks after that if it is asked to."""
    made = Order.objects.create(cents=990)
    made.job_id = enqueue(send_receipt.new(order=made.id)).id
    made.save()
    found = receipt.enqueue(made.id, note="by request")
    if "break" in request.GET:
        raise RuntimeError("asked for")
    return HttpResponse(f"{made.id} {found.id}")


@transaction.non_atomic_requests
async def order_async(request: HttpRequest) -> HttpResponse:
    """Async views have no transaction."""
    made = await Order.objects.acreate(cents=10)
    await aenqueue(send_receipt_async.new(order=made.id))
    found = await receipt.aenqueue(made.id, note="async")
    return HttpResponse(f"{made.id} {found.id}")
