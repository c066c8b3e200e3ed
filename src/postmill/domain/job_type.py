"""`@job`: a function becomes a job type. Nothing is registered, nothing is global; building a job is pure."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, Unpack, overload

from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import ErrorDetails, PydanticSerializationError

from postmill.domain.classify import Classifier
from postmill.domain.context import HandlerContext
from postmill.domain.errors import DefinitionError, Fault, PayloadRefused, Undecodable
from postmill.domain.idempotency import Idempotency
from postmill.domain.job import NewJob
from postmill.domain.job_options import JobOptions, merge, normalize
from postmill.domain.job_type_options import (
    Isolation,
    JobTypeOptions,
    Keep,
    ReplayClass,
    Secrets,
    check_name,
    check_options,
)
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.limit import Limit, Rate
from postmill.domain.outcome import OnExhausted
from postmill.domain.payload import check_encoded, check_line, refusal, refuse_fault
from postmill.domain.payload_faults import find_fault
from postmill.domain.policy import RetryPolicy
from postmill.domain.policy_json import to_json
from postmill.domain.queue import Queue
from postmill.domain.secrets_policy import refuse_secrets
from postmill.domain.signature import Signature, read_signature
from postmill.domain.suggest import did_you_mean

Q = ParamSpec("Q")
P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
C = TypeVar("C", bound=HandlerContext)


@dataclass(frozen=True, eq=False, repr=False)
class JobType(Generic[Q, P, R_co]):
    """A stable name with a handler and its policies, made by `@job`. Its options are those of JobTypeOptions.

    Calling it runs the function, as if it had no decorator. `.new(…)` makes a job with checked arguments. The
    type parameters are the function's parameters, the same without the context, and what the function
    returns. `explicit` names the options that were written down; the others are defaults. `declared` is its queue with who
    answers for it and what is promised, where `queue=` was given a Queue.
    """

    name: str
    fn: Callable[Q, R_co]
    signature: Signature
    queue: str
    retry: RetryPolicy
    max_attempts: int
    timeout: float | None
    idempotency: Idempotency | None
    isolation: Isolation
    keep: Keep
    on_exhausted: OnExhausted
    aliases: tuple[str, ...]
    worker_limit: int | None
    rate: Rate | None
    limits: tuple[Limit, ...]
    lane: str | None
    priority: int | None
    classifier: Classifier | None
    log_fields: tuple[str, ...]
    action: str
    escalation_fields: tuple[str, ...]
    category: str | None
    strict_envelope: bool
    secrets: Secrets
    secret_keys: tuple[str, ...]
    encrypted: bool
    budget: str | None
    replay_class: ReplayClass
    explicit: frozenset[str]
    declared: Queue | None = field(default=None, kw_only=True)
    is_async: bool = field(init=False)
    wants_ctx: bool = field(init=False)
    ctx_param: str | None = field(init=False)
    args: type[BaseModel] = field(init=False)
    takes_arguments: bool = field(init=False)
    _from_json: Callable[[bytes], BaseModel] = field(init=False)
    _from_python: Callable[[dict[str, Any]], BaseModel] = field(init=False)
    _to_json: Callable[[BaseModel], bytes] = field(init=False)

    def __post_init__(self) -> None:
        made = {
            "is_async": inspect.iscoroutinefunction(self.fn),
            "wants_ctx": self.signature.context is not None,
            "ctx_param": self.signature.context,
            "args": self.signature.model,
            "takes_arguments": bool(self.signature.names),
            # Bound methods of pydantic's core, looked up once: they run for each job.
            "_from_json": self.signature.model.__pydantic_validator__.validate_json,
            "_from_python": self.signature.model.__pydantic_validator__.validate_python,
            "_to_json": partial(
                self.signature.model.__pydantic_serializer__.to_json,
                by_alias=True,
                warnings="error" if self.signature.may_hide_mismatches else False,
            ),
            "__doc__": self.fn.__doc__,
            "__module__": self.fn.__module__,
            "__name__": getattr(self.fn, "__name__", self.name),
            "__qualname__": getattr(self.fn, "__qualname__", self.name),
            "__wrapped__": self.fn,
        }
        self.__dict__.update(made)

    def __call__(self, /, *args: Q.args, **kwargs: Q.kwargs) -> R_co:
        """Runs the function itself, here and now."""
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<job type {self.name!r} in queue {self.queue!r}>"

    def __reduce__(self) -> str:
        # As a function: by the name under which its module holds it. So a child process finds the same
        # object.
        return self.__dict__["__qualname__"]  # type: ignore[no-any-return]

    def new(self, /, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A job of this type with these arguments, not yet enqueued.

        Raises PayloadRefused, naming the argument, where they do not fit the signature or cannot be stored.
        """
        return self._new(args, kwargs, {})

    def using(self, **options: Unpack[JobOptions]) -> BoundJobType[P]:
        """This type with options for its jobs: `send.using(delay=60, tenant=t).new(to="…")`.

        Raises TypeError for an unknown option, PayloadRefused for a bad value.
        """
        return BoundJobType(self, normalize(options))

    def bind(self, payload: bytes) -> dict[str, Any]:
        """The handler's keyword arguments from a stored payload (JSON text), defaults filled in; a new dict.

        Raises Undecodable with the path of each fault.
        """
        if payload == b"{}" and not self.takes_arguments:
            return {}
        try:
            return self._from_json(payload).__dict__
        except (ValidationError, ValueError) as fault:
            raise Undecodable(self.name, faults_of(fault)) from None

    def json_schema(self) -> dict[str, Any]:
        """JSON Schema of the payload. Raises DefinitionError where the arguments' types have none."""
        try:
            schema = self.args.model_json_schema()
        except (PydanticUserError, ValueError) as fault:
            reason = str(fault).partition("\n")[0]
            raise DefinitionError(
                f"job type {self.name!r}: its arguments have no JSON Schema: {reason}"
            ) from None
        schema.setdefault("properties", {})
        return schema | {"title": self.name}

    @property
    def fleet_limits(self) -> tuple[Limit, ...]:
        """Its limits over the whole fleet, `rate` among them."""
        if self.rate is None:
            return self.limits
        together = next((one.max_running for one in self.limits if not one.parts), None)
        return (Limit(together, self.rate), *(one for one in self.limits if one.parts))

    def definition(self) -> dict[str, Any]:
        """The stored form of this type, as plain JSON data.

        Raises DefinitionError, naming the type and the place, where the database could not hold it: a NUL
        character in a parameter's description, say.
        """
        idempotency = self.idempotency
        window = idempotency.window if idempotency else None
        made = {
            "name": self.name,
            "aliases": list(self.aliases),
            "description": inspect.getdoc(self.fn) or "",
            "queue": self.queue,
            "arg_schema": self.json_schema(),
            "timeout_seconds": self.timeout,
            "max_attempts": self.max_attempts,
            "retry": to_json(self.retry),
            "idempotency_mode": idempotency.mode.value if idempotency else None,
            "idempotency_window_seconds": window.total_seconds() if window else None,
            "idempotency_content": list(idempotency.content) or None if idempotency else None,
            "keep": self.keep,
            "on_exhausted": self.on_exhausted,
            "isolation": self.isolation,
            "worker_limit": self.worker_limit,
            "rate": (
                {"count": self.rate.count, "per": self.rate.seconds, "burst": self.rate.capacity}
                if self.rate
                else None
            ),
            "limits": [limit.row() for limit in self.fleet_limits],
            "lane": self.lane,
            "priority": self.priority,
            "log_fields": list(self.log_fields),
            "action": self.action,
            "escalation_fields": list(self.escalation_fields),
            "category": self.category,
            "strict_envelope": self.strict_envelope,
            "secrets": self.secrets,
            "secret_keys": list(self.secret_keys),
            "encrypted": self.encrypted,
            "budget": self.budget,
            "replay_class": self.replay_class,
        }
        fault = find_fault(made, "")
        if fault is not None:
            path = fault.path.removeprefix(".").replace("arg_schema.properties.", "parameter ")
            raise DefinitionError(f"job type {self.name!r}, {path}: {fault.why}")
        return made

    def _new(self, args: tuple[Any, ...], kwargs: dict[str, Any], options: Mapping[str, Any]) -> NewJob:
        if args:
            kwargs = self._by_name(args, kwargs)
        try:
            arguments = self._from_python(kwargs)
        except (ValidationError, ValueError) as fault:
            raise self._refused(fault) from None
        values = arguments.__dict__
        try:
            raw = self._to_json(arguments)
        except (PydanticSerializationError, ValueError, RecursionError) as fault:
            raise refusal(values, fault) from None
        # Inside models of the user's own, pydantic writes NaN as null: so a null is a reason to look.
        if self.signature.may_hide_datetimes or b"null" in raw:
            refuse_fault(values)
        check_encoded(raw, values)
        if self.secrets == "refuse":
            refuse_secrets(raw, self.secret_keys)
        if self.idempotency is not None and options.get("key") is None:
            options = {**options, "key": self._key(raw, values, options), "key_derived": True}
        return NewJob(self.name, raw, definition=self, **options)

    def _key(self, raw: bytes, values: Mapping[str, object], options: Mapping[str, Any]) -> str:
        assert self.idempotency is not None
        tenant, project = options.get("tenant_id", DEFAULT_TENANT), options.get("project_id")
        return check_line("key", self.idempotency.key_for(self.name, tenant, project, raw, values))

    def _by_name(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        names = self.signature.names
        if len(args) > len(names):
            raise PayloadRefused(
                "args", f"{self.name!r} takes {len(names)} arguments, {len(args)} were given"
            )
        given = dict(zip(names, args, strict=False))
        doubled = next((name for name in given if name in kwargs), None)
        if doubled is not None:
            raise PayloadRefused(f"args.{doubled}", "is given twice")
        return given | dict(kwargs)

    def _refused(self, fault: ValueError) -> PayloadRefused:
        faults = faults_of(fault)
        for n, (path, why) in enumerate((f.path, f.why) for f in faults):
            name = path.removeprefix("args.")
            if why == _EXTRA:
                hint = did_you_mean(name, self.signature.names, noun="arguments")
                faults[n] = Fault(path, f"is no argument of {self.name!r}{hint}")
        return PayloadRefused(faults[0].path, faults[0].why, faults[1:])


_EXTRA = "is no known argument"


def faults_of(fault: ValueError) -> list[Fault]:
    """What pydantic found, by path, without the values: they may be secret. At most 20 faults."""
    if not isinstance(fault, ValidationError):
        return [Fault("args", str(fault)[:300])]
    details = fault.errors(include_url=False, include_context=False, include_input=False)
    return [Fault(_path(detail), _why(detail)) for detail in details[:20]]


def _path(detail: ErrorDetails) -> str:
    return "args" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"])


def _why(detail: ErrorDetails) -> str:
    if detail["type"] == "extra_forbidden":
        return _EXTRA
    return "is missing" if detail["type"] == "missing" else detail["msg"].removeprefix("Value error, ")


@dataclass(frozen=True, slots=True)
class BoundJobType(Generic[P]):
    """A job type with options that its `.new` applies to each job."""

    job_type: JobType[..., P, Any]
    options: dict[str, Any]

    def new(self, /, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A job with these arguments and the options. Raises as JobType.new does."""
        return self.job_type._new(args, kwargs, self.options)

    def using(self, **options: Unpack[JobOptions]) -> BoundJobType[P]:
        """The same with further options; they win over the present ones."""
        return BoundJobType(self.job_type, merge(self.options, normalize(options)))


class Decorator(Protocol):
    """What `@job(…)` with parentheses gives."""

    @overload
    def __call__(self, fn: Callable[Concatenate[C, P], R], /) -> JobType[Concatenate[C, P], P, R]: ...
    @overload
    def __call__(self, fn: Callable[P, R], /) -> JobType[P, P, R]: ...


@overload
def job(fn: Callable[Concatenate[C, P], R], /) -> JobType[Concatenate[C, P], P, R]: ...
@overload
def job(fn: Callable[P, R], /) -> JobType[P, P, R]: ...
@overload
def job(name: str | None = None, /, **options: Unpack[JobTypeOptions]) -> Decorator: ...
def job(target: Any = None, /, **options: Any) -> Any:
    """Makes a job type of a function: `@job`, `@job("name")` or `@job(name="name", queue="mail", …)`.

    A parameter annotated `Context` (the first, for type checkers) receives the context; all others are the
    job's arguments. Raises DefinitionError for anything that would go wrong later.
    """
    if target is not None and not isinstance(target, str):
        if options:
            raise DefinitionError("write @job(…options…) above the function, not job(function, …options…)")
        return _make(target, None, {})
    if target is not None and "name" in options:
        raise DefinitionError(f"job type {target!r}: its name is given twice")
    name = target if target is not None else options.pop("name", None)
    return partial(_make, name=name, options=options)


def _make(fn: object, name: str | None, options: Mapping[str, object]) -> JobType[..., ..., Any]:
    if not inspect.isfunction(fn):
        raise DefinitionError(f"@job goes on a function (def or async def), not on {fn!r}")
    name = check_name(fn.__name__ if name is None else name)
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise DefinitionError(f"job type {name!r}: a handler cannot yield")
    signature = read_signature(fn, name)
    checked = check_options(name, options, signature.names)
    if checked["isolation"] == "thread" and inspect.iscoroutinefunction(fn):
        raise DefinitionError(f"job type {name!r}, isolation: a coroutine runs on the loop, not in a thread")
    idempotency: Idempotency | None = checked["idempotency"]
    stray = (
        next((one for one in idempotency.content if one not in signature.names), None)
        if idempotency
        else None
    )
    if stray is not None:
        hint = did_you_mean(stray, signature.names, noun="arguments")
        raise DefinitionError(f"job type {name!r}, idempotency: content {stray!r} is no argument{hint}")
    if name in checked["aliases"]:
        raise DefinitionError(f"job type {name!r}, aliases: its own name is among them")
    queue = options.get("queue")
    return JobType(name, fn, signature, **checked, declared=queue if isinstance(queue, Queue) else None)
