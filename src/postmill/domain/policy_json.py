"""Retry policies as JSON objects, as the row of a job definition holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from postmill.domain.curves import Curve
from postmill.domain.policy import (
    DEFAULT,
    ByErrorClass,
    Constant,
    Exponential,
    RetryPolicy,
    Steps,
)


def to_json(policy: RetryPolicy | Curve) -> dict[str, object]:
    """The policy as plain JSON data. A function is kept by name only, with the default as its stand-in."""
    if isinstance(policy, Curve):
        policy = policy.policy
    match policy:
        case Exponential():
            return {
                "kind": "exponential",
                "base": policy.base,
                "factor": policy.factor,
                "cap": policy.cap,
                "jitter": list(policy.jitter),
            }
        case Steps():
            return {"kind": "steps", "delays": list(policy.delays), "jitter": list(policy.jitter)}
        case Constant():
            return {"kind": "constant", "delay": policy.delay, "jitter": list(policy.jitter)}
        case ByErrorClass():
            return {
                "kind": "by_error_class",
                "policies": {name: to_json(inner) for name, inner in policy.policies.items()},
                "default": to_json(policy.default),
            }
        case _:
            name = getattr(policy, "__qualname__", type(policy).__qualname__)
            return {"kind": "custom", "name": name, "fallback": to_json(DEFAULT)}


def from_json(data: Mapping[str, object]) -> RetryPolicy:
    """The policy back from JSON data; a `custom` one comes back as its stand-in.

    Raises ValueError (or TypeError) that says what is wrong with the data.
    """
    if not isinstance(data, Mapping):
        raise TypeError(f"a retry policy is an object, not {type(data).__name__}")
    fields = dict(data)
    kind = fields.pop("kind", None)
    if isinstance(fields.get("jitter"), list):
        fields["jitter"] = tuple(cast("list[object]", fields["jitter"]))
    try:
        match kind:
            case "exponential":
                return Exponential(**fields)  # type: ignore[arg-type]  # checked by the class itself
            case "steps":
                return Steps(**fields)  # type: ignore[arg-type]  # checked by the class itself
            case "constant":
                return Constant(**fields)  # type: ignore[arg-type]  # checked by the class itself
            case "by_error_class":
                policies = cast("Mapping[str, Mapping[str, object]]", fields.get("policies", {}))
                default = fields.get("default")
                return ByErrorClass(
                    {name: from_json(inner) for name, inner in policies.items()},
                    DEFAULT if default is None else from_json(cast("Mapping[str, object]", default)),
                )
            case "custom":
                fallback = fields.get("fallback")
                return DEFAULT if fallback is None else from_json(cast("Mapping[str, object]", fallback))
    except (TypeError, AttributeError) as fault:
        raise ValueError(f"retry policy {kind!r}: {fault}") from None
    raise ValueError(f"unknown kind of retry policy: {kind!r}")
