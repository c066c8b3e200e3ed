"""What holds in a Django project: run by `tests/contrib/test_django.py`, in a process and a database of its own."""

import asyncio
import io
import os
import pickle
import signal
import subprocess
import sys
from datetime import timedelta

import django
import pytest

os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
django.setup()

from django.contrib.auth.models import Permission, User  # noqa: E402
from django.core.exceptions import ImproperlyConfigured  # noqa: E402
from django.core.management import CommandError, call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.test import AsyncClient, Client, TestCase, override_settings  # noqa: E402
from django.utils import timezone  # noqa: E402
from shop.jobs import charge, send_receipt, send_receipt_apart, send_receipt_async  # noqa: E402
from shop.models import Order  # noqa: E402
from shop.tasks import broken, flaky, receipt  # noqa: E402

from postmill.contrib.django import (  # noqa: E402
    PostmillBackend,
    cancel,
    console_url,
    enqueue,
    enqueue_many,
    enqueue_on_commit,
    job_link,
    publish,
)
from postmill.contrib.django.conf import config  # noqa: E402
from postmill.contrib.django.management.commands.postmill import without_django  # noqa: E402
from postmill.contrib.django.tasks_api import (  # noqa: E402
    InvalidTask,
    InvalidTaskBackend,
    TaskResultDoesNotExist,
    TaskResultStatus,
    task_backends,
    task_enqueued,
)
from tests.support.eventually import eventually  # noqa: E402


def count(where: str = "true") -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"select count(*) from postmill.jobs where {where}")
        return cursor.fetchone()[0]


@pytest.fixture(scope="module", autouse=True)
def migrated() -> None:
    out = io.StringIO()
    call_command("migrate", stdout=out)
    assert "Applying postmill 0001_time_and_ids" in out.getvalue()
    assert out.getvalue().index("postmill 0001") < out.getvalue().index("shop.0001")  # a view needs it
    again = io.StringIO()
    call_command("migrate", stdout=again)
    assert "postmill" not in again.getvalue().replace("postmill.", "")
    call_command("check", fail_level="WARNING", stdout=out)
    call_command("makemigrations", check=True, dry_run=True, stdout=out)  # ours is no model of theirs


def test_a_request_is_the_transaction() -> None:
    before = count()
    assert Client().get("/order").status_code == 200
    assert count() == before + 2
    assert Client(raise_request_exception=False).get("/order?break").status_code == 500
    assert count() == before + 2
    assert Order.objects.filter(cents=990).count() == 1


def test_a_rolled_back_task_is_nothing() -> None:
    seen = []
    task_enqueued.connect(seen_by := (lambda task_result, **_: seen.append(task_result.id)))
    with transaction.atomic():
        gone = receipt.enqueue(1)
        assert receipt.get_result(gone.id).status == TaskResultStatus.READY  # this transaction sees it
        transaction.set_rollback(True)
    task_enqueued.disconnect(seen_by)
    assert seen == [gone.id]
    with pytest.raises(TaskResultDoesNotExist):
        receipt.get_result(gone.id)
    with pytest.raises(TaskResultDoesNotExist):
        receipt.get_result("no id at all")
    with pytest.raises(TaskResultDoesNotExist):
        receipt.get_result(str(enqueue(send_receipt.new(order=1)).id))  # a job, but no task


def test_what_a_task_asks_for_is_what_the_job_has() -> None:
    later = timezone.now() + timedelta(hours=1)
    made = receipt.using(priority=50, queue_name="low", run_after=later).enqueue(7, note="x")
    assert made.status == TaskResultStatus.READY
    with connection.cursor() as cursor:
        cursor.execute(
            "select job_type, queue, priority, scheduled_for from postmill.jobs where id = %s", [made.id]
        )
        assert cursor.fetchone() == ("shop.tasks.receipt:low", "low", 50, later)
    found = receipt.get_result(made.id)
    assert (found.task.priority, found.task.queue_name, found.task.run_after) == (50, "low", later)
    assert (found.args, found.kwargs) == ([7], {"note": "x"})
    assert abs(found.enqueued_at - made.enqueued_at) < timedelta(milliseconds=20)
    assert not found.is_finished
    assert found.attempts == 0
    assert cancel(made.id).status == "canceled"
    found.refresh()
    assert found.status == TaskResultStatus.FAILED
    if django.VERSION >= (6,):  # the backport's cannot be pickled
        assert pickle.loads(pickle.dumps(made.task)) == made.task


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(InvalidTask, match="Queue 'lw' is not valid"):
        receipt.using(queue_name="lw")
    with pytest.raises(InvalidTask, match="aware"):
        receipt.using(run_after=timezone.now().replace(tzinfo=None))
    with pytest.raises(TypeError):
        receipt.enqueue(object())
    copied = type(receipt)(func=count)
    with pytest.raises(InvalidTask, match="must be the task itself"):
        copied.enqueue()
    with pytest.raises(InvalidTask, match="max_attempts"):
        type(receipt)(func=receipt.func, max_attempts=0)
    for options, said in (
        ({"max_attempt": 1}, "did you mean 'max_attempts'"),
        ({"max_attempts": "x"}, "whole number"),
    ):
        with pytest.raises(InvalidTaskBackend, match=said):
            PostmillBackend("default", {"OPTIONS": options})
    assert [error.id for error in PostmillBackend("x", {"QUEUES": []}).check()] == ["postmill.E002"]
    for given, said in (
        ({"DATABSE": "x"}, "did you mean 'DATABASE'"),
        ({"MODULES": "jobs"}, "a list"),
        ({"SCHEMA": "A"}, "A"),
    ):
        with override_settings(POSTMILL=given), pytest.raises(ImproperlyConfigured, match=said):
            config()
    with override_settings(POSTMILL={"DATABASE": "other"}), pytest.raises(Exception, match="other"):
        call_command("check")
    with pytest.raises(CommandError, match=r"manage\.py"):
        call_command("postmill")


class TestHooks(TestCase):
    """Inside the transaction of Django's TestCase, which is rolled back."""

    def test_hooks(self) -> None:
        before = count()
        with self.captureOnCommitCallbacks(execute=False) as callbacks:
            enqueue_on_commit(lambda: send_receipt.new(order=5))
            enqueue_on_commit(send_receipt.new(order=6))
        assert count() == before
        for callback in callbacks:
            callback()
        assert count() == before + 2
        assert len(enqueue_many([send_receipt.new(order=n) for n in range(3)])) == 3
        assert publish("shop.closed", {"by": "me"}).id


def test_the_admin_leads_to_the_console() -> None:
    user = User.objects.create_user("ann", is_staff=True)
    browser = Client()
    browser.force_login(user)
    assert "console" not in browser.get("/admin/").text.lower()
    assert browser.get("/admin/postmill/console/").status_code == 403
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_console", "view_order"]))
    assert "/admin/postmill/console/" in browser.get("/admin/").text
    assert browser.get("/admin/postmill/console/").headers["Location"] == "https://postmill.example/ops"
    row = Order.objects.create(cents=1, job_id="0198f3a2-7c11-7abc-8000-0123456789ab")
    link = f'<a href="https://postmill.example/ops/jobs/{row.job_id}">'
    assert link in browser.get("/admin/shop/order/").text
    with override_settings(POSTMILL={}):
        assert (console_url(), job_link(row.job_id), job_link(None)) == (None, str(row.job_id), "-")


def test_a_worker_runs_it_all() -> None:
    made, *others = (Order.objects.create(cents=n) for n in range(5))
    # In the suite's short form not in a process of its own: that is a second.
    whole = os.environ.get("SHOP_WHOLE")
    enqueue((send_receipt_apart if whole else send_receipt).new(order=others[1].id))
    enqueue(send_receipt_async.new(order=others[2].id))
    own = enqueue(charge.new(order=others[3].id)).id
    plain = receipt.enqueue(made.id, note="hello")
    twice = flaky.enqueue(until=2)
    never = broken.enqueue()
    answer = asyncio.run(_asked())
    worker = subprocess.Popen([sys.executable, "manage.py", "postmill_worker", "--settings=shop.settings"])
    try:
        eventually(
            lambda: worker.poll() is not None or count("status in ('queued', 'running')") == 0,
            60,
            "jobs done",
        )
        assert worker.poll() is None
    finally:
        worker.send_signal(signal.SIGTERM)
        code = worker.wait(30)
    assert code == 0
    plain.refresh()
    assert plain.status == TaskResultStatus.SUCCESSFUL
    assert plain.return_value == {"order": made.id, "note": "hello"}
    assert plain.started_at <= plain.finished_at
    assert plain.attempts == 1
    twice.refresh()
    assert (twice.status, twice.return_value, twice.attempts) == (TaskResultStatus.SUCCESSFUL, 2, 2)
    assert [error.exception_class for error in twice.errors] == [ValueError]
    assert "attempt 1" in twice.errors[0].traceback
    never.refresh()
    assert (never.status, never.attempts) == (TaskResultStatus.FAILED, 1)
    assert never.errors[0].exception_class is LookupError
    with pytest.raises(ValueError, match="Task failed"):
        never.return_value  # noqa: B018
    id, _, task_id = answer.partition(" ")
    assert asyncio.run(task_backends["default"].aget_result(task_id)).return_value["note"] == "async"
    ids = [int(id), made.id, *(other.id for other in others[1:])]
    assert set(Order.objects.filter(id__in=ids).values_list("receipts", flat=True)) == {1}
    with connection.cursor() as cursor:
        cursor.execute("select result from postmill.outcome where job_id = %s", [own])
        assert cursor.fetchone() == ('"charged"',)
    words = ["jobs", "--settings", "shop.settings", "list", "--pythonpath=.", "--json"]
    assert without_django(words) == ["jobs", "list", "--json"]


async def _asked() -> str:
    return (await AsyncClient().get("/order-async")).content.decode()
