import copy
import inspect
import pickle
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from postmill.domain.context import HandlerContext
from postmill.domain.errors import PayloadRefused, Undecodable
from postmill.domain.idempotency import Idempotency, Mode, default_key
from postmill.domain.job import NewJob
from postmill.domain.job_type import JobType, job
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.retry import Exponential

TENANT = UUID(int=7)


class Context(HandlerContext):
    """Stands for the engine's."""


class Point(BaseModel):
    x: float
    at: datetime | None = None


@job
async def send_email(to: str, subject: str = "hello", copies: int = 1) -> str:
    """Sends one e-mail."""
    return f"{to}: {subject}"


@job("RSS_FEED_REFRESH", queue="DEFAULT")
def refresh(ctx: Context, feed: UUID) -> None:
    """Has a context."""


@job(name="tick")
def nothing() -> int:
    return 7


@job()
def plain(data: dict[str, Any] | None = None, point: Point | None = None) -> None: ...


def test_the_name_is_given_or_the_functions_own_and_never_a_path() -> None:
    assert [t.name for t in (send_email, refresh, nothing, plain)] == [
        "send_email",
        "RSS_FEED_REFRESH",
        "tick",
        "plain",
    ]


async def test_calling_it_runs_the_function() -> None:
    assert nothing() == 7
    assert await send_email("a@b.c", subject="x") == "a@b.c: x"
    refresh(Context(), UUID(int=1))


def test_the_defaults() -> None:
    t = send_email
    assert (t.queue, t.max_attempts, t.timeout, t.retry) == ("default", 5, 3600.0, Exponential())
    assert (t.isolation, t.keep, t.on_exhausted, t.aliases) == ("auto", "all", "dead_letter", ())
    assert (t.idempotency, t.worker_limit, t.rate, t.lane, t.priority, t.classifier) == (None,) * 6
    assert (t.is_async, t.wants_ctx, t.ctx_param, t.takes_arguments) == (True, False, None, True)
    assert (refresh.is_async, refresh.wants_ctx, refresh.ctx_param) == (False, True, "ctx")
    assert not nothing.takes_arguments


def test_it_looks_like_its_function() -> None:
    assert inspect.getdoc(send_email) == "Sends one e-mail."
    assert list(inspect.signature(send_email).parameters) == ["to", "subject", "copies"]
    assert repr(refresh) == "<job type 'RSS_FEED_REFRESH' in queue 'DEFAULT'>"


def test_it_is_frozen_and_goes_to_child_processes_as_itself() -> None:
    with pytest.raises(AttributeError):
        send_email.queue = "other"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(send_email)) is send_email
    assert copy.deepcopy(send_email) is send_email


def test_new_makes_a_job_with_the_arguments_and_their_defaults() -> None:
    made = send_email.new("a@b.c", copies=2)
    assert made == NewJob("send_email", b'{"to":"a@b.c","subject":"hello","copies":2}')
    assert made.definition is send_email
    assert nothing.new() == NewJob("tick", b"{}")
    assert refresh.new(feed=UUID(int=1)).payload == b'{"feed":"00000000-0000-0000-0000-000000000001"}'


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "args.to: is missing"),
        (
            (),
            {"to": "x", "subjct": "y"},
            r"args.subjct: is no argument of 'send_email'; did you mean 'subject'\?",
        ),
        (("x",), {"to": "y"}, "args.to: is given twice"),
        (("x", "y", 1, 2), {}, "takes 3 arguments, 4 were given"),
        ((), {"to": "x", "copies": "many"}, "args.copies: Input should be a valid integer"),
        ((), {"to": 5, "copies": []}, r"args.to: .*valid string; args.copies: "),
        ((), {"to": "x\0"}, "args.to: holds a NUL"),
        ((), {"to": "x\ud800"}, "args.to: holds a lone surrogate"),
        ((), {"to": "x", "copies": 10**4301}, "args.*"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_path(args: Any, kwargs: Any, message: str) -> None:
    with pytest.raises(PayloadRefused, match=message):
        send_email.new(*args, **kwargs)


def test_a_refusal_does_not_show_the_value() -> None:
    with pytest.raises(PayloadRefused) as caught:
        send_email.new(to="x", copies="hunter2")  # type: ignore[arg-type]
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("kwargs", "path"),
    [
        ({"data": {"a": [1, float("nan")]}}, "args.data.a[1]"),
        ({"point": Point(x=float("inf"))}, "args.point.x"),
        ({"point": Point(x=1, at=datetime(2026, 1, 1))}, "args.point.at"),
        ({"data": {"at": datetime(2026, 1, 1)}}, "args.data.at"),
        ({"data": {"a": object()}}, "args.data.a"),
        ({"data": {"a": "x" * 2**20}}, "args"),
    ],
)
def test_faults_deep_inside_are_found(kwargs: Any, path: str) -> None:
    with pytest.raises(PayloadRefused) as caught:
        plain.new(**kwargs)
    assert caught.value.path == path


def test_a_nan_that_pydantic_would_write_as_null_is_found() -> None:
    class Price(BaseModel):
        amount: float

    @job
    def quote(price: Price) -> None: ...

    assert not quote.signature.may_hide_datetimes
    assert quote.new(price=Price(amount=1)).payload == b'{"price":{"amount":1.0}}'
    with pytest.raises(PayloadRefused, match=r"args\.price\.amount: is nan, which is no JSON number"):
        quote.new(price=Price(amount=float("nan")))


def test_a_model_that_was_filled_without_checks_is_refused_when_made() -> None:
    with pytest.raises(PayloadRefused, match="args"):
        plain.new(point=Point.model_construct(x="far"))


@pytest.mark.parametrize("levels", [1, 100, 198])
def test_what_new_accepts_bind_gives_back(levels: int) -> None:
    inner: Any = r"the literal text \u0000, NaN and null"
    for _ in range(levels):
        inner = [inner]
    point = Point(x=1.5, at=datetime(2026, 1, 1, tzinfo=UTC))
    made = plain.new(data={"a": inner}, point=point)
    assert plain.bind(made.payload) == {"data": {"a": inner}, "point": point}


def test_nesting_beyond_the_limit_is_refused_when_made_not_when_run() -> None:
    inner: Any = 1
    for _ in range(199):
        inner = [inner]
    with pytest.raises(PayloadRefused, match="deeper than 200"):
        plain.new(data={"a": inner})


def test_bytes_make_the_round_trip() -> None:
    @job
    def store(blob: bytes) -> None: ...

    assert store.bind(store.new(blob=b"\x00\xff").payload) == {"blob": b"\x00\xff"}


def test_bind_gives_a_dict_of_its_own_with_defaults() -> None:
    bound = send_email.bind(b'{"to": "a"}')
    assert bound == {"to": "a", "subject": "hello", "copies": 1}
    bound["ctx"] = 1
    assert "ctx" not in send_email.bind(b'{"to": "a"}')
    assert nothing.bind(b"{}") == {}
    assert nothing.bind(b"{ }") == {}
    assert nothing.bind(b"{}") is not nothing.bind(b"{}")


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"{}", "payload does not fit 'send_email': args.to: is missing"),
        (b'{"to": "a", "copies": "x"}', "args.copies: Input should be a valid integer"),
        (b'{"to": "a", "extra": 1}', "args.extra: is no known argument"),
        (b"[]", "args: "),
        (b"null", "args: "),
        (b"{", "args: Invalid JSON"),
        (b"", "args: Invalid JSON"),
        (b'{"to": ' + b"[" * 5000 + b"]" * 5000 + b"}", "recursion limit exceeded"),
        (b'{"to": "a", "copies": ' + b"9" * 5000 + b"}", "args: Invalid JSON"),
    ],
)
def test_a_payload_that_does_not_fit_is_undecodable_by_path(payload: bytes, message: str) -> None:
    with pytest.raises(Undecodable, match=message) as caught:
        send_email.bind(payload)
    assert len(str(caught.value)) < 1000


def test_many_faults_are_cut() -> None:
    @job
    def wide(rows: list[int]) -> None: ...

    with pytest.raises(Undecodable) as caught:
        wide.bind(b'{"rows": [' + b",".join([b'"x"'] * 5000) + b"]}")
    assert len(caught.value.faults) == 20
    assert caught.value.faults[3].path == "args.rows[3]"


def test_using_applies_options_to_each_job() -> None:
    urgent = send_email.using(priority=1, tenant=TENANT).using(delay=60)
    made = urgent.new(to="a")
    assert (made.priority, made.tenant_id, made.delay) == (1, TENANT, timedelta(minutes=1))
    assert send_email.new(to="a").priority is None
    later = urgent.using(scheduled_for=datetime(2027, 1, 1, tzinfo=UTC)).new(to="a")
    assert later.delay is None
    with pytest.raises(TypeError, match="did you mean 'delay'"):
        send_email.using(dealy=1)  # type: ignore[call-arg]


def test_aliases_of_fields_serve_names_that_python_cannot_spell() -> None:
    @job
    def embed(business_id: Annotated[str, Field(alias="business-id")]) -> None: ...

    assert embed.new(business_id="b1").payload == b'{"business-id":"b1"}'
    assert embed.bind(b'{"business-id":"b1"}') == embed.bind(b'{"business_id":"b1"}') == {"business_id": "b1"}


def test_parameters_may_be_called_as_pydantic_calls_its_methods() -> None:
    @job
    def odd(json: int, copy: str, schema: str, model_name: str) -> None: ...

    arguments = {"json": 1, "copy": "c", "schema": "s", "model_name": "m"}
    assert odd.bind(odd.new(**arguments).payload) == arguments  # type: ignore[arg-type]


def test_the_json_schema_of_the_payload() -> None:
    schema = send_email.json_schema()
    assert schema["title"] == "send_email"
    assert schema["required"] == ["to"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["copies"] == {"title": "Copies", "type": "integer", "default": 1}
    assert nothing.json_schema()["properties"] == {}


def test_keys_are_made_only_where_a_definition_asks_for_them() -> None:
    @job(idempotency="active")
    def once(a: int) -> None: ...

    assert send_email.new(to="x").key is None
    made = once.new(a=1)
    assert made.key == default_key("once", DEFAULT_TENANT, None, b'{"a":1}')
    assert made.mode is None  # the definition's, as the database has it
    assert once.using(tenant=TENANT).new(a=1).key == default_key("once", TENANT, None, b'{"a":1}')
    assert once.using(key="own").new(a=1).key == "own"
    assert once.new(a=1).key != once.new(a=2).key


def test_a_default_key_follows_tenant_and_project_but_not_a_callers_key() -> None:
    @job(idempotency=Idempotency(Mode.WINDOW))
    def once(a: int) -> None: ...

    made = once.new(a=1)
    assert made.using(tenant=TENANT, project=TENANT).key == default_key("once", TENANT, TENANT, b'{"a":1}')
    assert made.using(priority=1).key == made.key
    assert made.using(key="own").using(tenant=TENANT).key == "own"


def test_keys_from_a_template() -> None:
    @job("generate-embedding", idempotency=Idempotency(Mode.WINDOW, key="embedding:{businessId}"))
    def embed(businessId: str, text: str) -> None: ...

    made = embed.new(businessId="b1", text="x")
    assert made.key == "embedding:b1"
    assert made.using(tenant=TENANT).key == "embedding:b1"
    with pytest.raises(PayloadRefused, match="key: has 1010 bytes"):
        embed.new(businessId="b" * 1000, text="x")


def test_job_types_are_what_the_decorator_makes() -> None:
    assert all(isinstance(made, JobType) for made in (send_email, refresh, nothing, plain))
