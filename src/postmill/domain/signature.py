"""From a handler's signature to the model of its arguments."""

from __future__ import annotations

import inspect
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from postmill.domain.context import HandlerContext
from postmill.domain.errors import DefinitionError
from postmill.domain.payload_faults import find_fault

_CONTEXT = ("postmill.engine.context", "Context")

_MODEL_CONFIG = ConfigDict(
    extra="forbid",
    populate_by_name=True,
    protected_namespaces=(),
    # NaN must come out as NaN, to be seen and refused; pydantic's default would silently make it null.
    ser_json_inf_nan="constants",
    ser_json_bytes="base64",
    val_json_bytes="base64",
)

_OPAQUE = ("dataclass", "function")

# Kinds of pydantic core schema in which no naive datetime can hide. Anything else makes `.new` look at the
# values.
# fmt: off
_TRANSPARENT = frozenset(
    {
        "model", "model-fields", "model-field", "typed-dict", "typed-dict-field", "dataclass",
        "dataclass-args", "dataclass-field", "definitions", "definition-ref", "default", "nullable",
        "union", "tagged-union", "list", "dict", "tuple", "set", "frozenset", "str", "int", "bool",
        "float", "none", "uuid", "decimal", "date", "timedelta", "literal", "enum", "bytes", "url",
        "multi-host-url",
    }
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of a handler: their model, their names in order, and the parameter for the context.

    What it may hide: a naive datetime (`.new` then looks at the values), or an object that does not match its own
    type any more (the serializer then checks): both cost time, so most types are spared them.
    """

    model: type[BaseModel]
    names: tuple[str, ...]
    context: str | None
    may_hide_datetimes: bool
    may_hide_mismatches: bool


def read_signature(fn: Callable[..., object], job_type: str) -> Signature:
    """The signature of handler `fn`. DefinitionError says what about it cannot be served."""
    fields: dict[str, Any] = {}
    context: str | None = None
    for parameter in inspect.signature(fn).parameters.values():
        where = f"job type {job_type!r}, parameter {parameter.name!r}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise DefinitionError(
                f"{where}: arguments are passed by name, so *args, **kwargs and / cannot be used"
            )
        if parameter.name == "self":
            raise DefinitionError(f"{where}: @job goes on functions, not on methods")
        annotation = _resolve(fn, parameter, where)
        if _is_context(annotation):
            if context is not None:
                raise DefinitionError(f"{where}: the context is asked for twice")
            context = parameter.name
            continue
        default = parameter.default
        # `= Field(pattern="…")` says something of the argument, and leaves it required.
        if default is parameter.empty or (isinstance(default, FieldInfo) and default.is_required()):
            annotation = annotation if default is parameter.empty else Annotated[annotation, default]
            default = ...
        fields[parameter.name] = (annotation, default)
    model = _model(fields, job_type)
    _check_defaults(fields, job_type)
    kinds = list(_kinds(model.__pydantic_core_schema__, set()))
    return Signature(
        model,
        tuple(fields),
        context,
        may_hide_datetimes=any(kind not in _TRANSPARENT for kind in kinds),
        # Instances given by the caller are taken as they are. The arguments' own model is the first of the kind.
        may_hide_mismatches=kinds.count("model") > 1 or any(kind.startswith(_OPAQUE) for kind in kinds),
    )


def _resolve(fn: Callable[..., object], parameter: inspect.Parameter, where: str) -> Any:
    """The annotation as an object; strings are looked up where the function stands, its closure included."""
    if parameter.annotation is parameter.empty:
        return Any
    home = inspect.unwrap(fn)
    closure = inspect.getclosurevars(home).nonlocals if inspect.isfunction(home) else {}
    holder = SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    try:
        found = typing.get_type_hints(
            holder, getattr(home, "__globals__", {}), dict(closure), include_extras=True
        )
    except NameError as fault:
        if _names_context(parameter.annotation):
            return HandlerContext  # imported for type checkers only
        raise DefinitionError(
            f"{where}: annotation {parameter.annotation!r} cannot be resolved: {fault}"
        ) from None
    except Exception as fault:
        raise DefinitionError(f"{where}: annotation {parameter.annotation!r} is no type: {fault}") from None
    return found[parameter.name]


def _names_context(annotation: object) -> bool:
    text = getattr(annotation, "__forward_arg__", annotation)
    return isinstance(text, str) and text in ("Context", "postmill.Context")


def _is_context(annotation: object) -> bool:
    """By its mark or by its name: the class belongs to a floor above, which is not imported here."""
    if not isinstance(annotation, type):
        # Context | None, Annotated[Context, …]
        return any(_is_context(part) for part in typing.get_args(annotation))
    return (
        issubclass(annotation, HandlerContext) or (annotation.__module__, annotation.__qualname__) == _CONTEXT
    )


def _model(fields: Mapping[str, Any], job_type: str) -> type[BaseModel]:
    try:
        with warnings.catch_warnings():
            # A parameter may be called `json` or `copy`; that it hides a method of the model harms nobody.
            warnings.simplefilter("ignore", UserWarning)
            model: type[BaseModel] = create_model("Arguments", __config__=_MODEL_CONFIG, **fields)
    except (PydanticUserError, NameError, TypeError, ValueError) as fault:
        reason = str(fault).partition("\n")[0]
        raise DefinitionError(f"job type {job_type!r}: its arguments cannot be modelled: {reason}") from None
    if not model.__pydantic_complete__:
        raise DefinitionError(f"job type {job_type!r}: its arguments refer to types that are not defined yet")
    # Pydantic takes `_name` for a private attribute and drops it silently.
    dropped = next((name for name in fields if name not in model.model_fields), None)
    if dropped is not None:
        raise DefinitionError(
            f"job type {job_type!r}: a parameter cannot be called {dropped!r}; name it otherwise"
        )
    return model


def _check_defaults(fields: Mapping[str, Any], job_type: str) -> None:
    """A default goes into the payload like any argument: `a: int = None` would be undecodable when it runs."""
    given = {name: field for name, field in fields.items() if field[1] is not ...}
    model = _model(given, job_type)
    for name, value in model().__dict__.items():
        unstorable = find_fault(value, name)
        if unstorable is not None:
            raise DefinitionError(
                f"job type {job_type!r}, parameter {name!r}: its default cannot be stored: {unstorable}"
            )
    try:
        raw = model.__pydantic_serializer__.to_json(model(), by_alias=True, warnings="error")
        model.__pydantic_validator__.validate_json(raw)
    except ValueError as fault:
        reason = fault.errors()[0] if isinstance(fault, ValidationError) else {"loc": (), "msg": str(fault)}
        where = "".join(f" {part!r}" for part in reason["loc"][:1])
        said = str(reason["msg"]).removeprefix("Value error, ")
        raise DefinitionError(
            f"job type {job_type!r}: the default of{where or ' a parameter'} does not fit: {said}"
        ) from None


def _kinds(schema: object, seen: set[int]) -> Iterator[str]:
    """Every `type` in a core schema."""
    if id(schema) in seen:
        return
    seen.add(id(schema))
    if isinstance(schema, Mapping):
        kind = schema.get("type")
        if isinstance(kind, str):
            yield kind
        for key, value in schema.items():
            if key not in ("metadata", "serialization", "config", "default", "expected"):
                yield from _kinds(value, seen)
    elif isinstance(schema, list | tuple):
        for value in schema:
            yield from _kinds(value, seen)
