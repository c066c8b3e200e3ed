"""Settings from environment variables: each part of the application has a model of its own, and names its variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

Model = TypeVar("Model", bound=BaseModel)


class SettingsMissing(Exception):
    """A variable is missing or wrong; the message names it."""


def read(model: type[Model], variables: Mapping[str, str], env: Mapping[str, str]) -> Model:
    """A part's settings: `variables` says which field comes from which variable; an empty one is as none.

    Raises SettingsMissing.
    """
    given = {field: env[name] for field, name in variables.items() if env.get(name)}
    try:
        return model.model_validate(given)
    except ValidationError as fault:
        [first, *_] = fault.errors(include_input=False)
        name = variables[str(first["loc"][0])]
        raise SettingsMissing(f"{name}: {first['msg']}; see examples/homepage/README.md") from None
