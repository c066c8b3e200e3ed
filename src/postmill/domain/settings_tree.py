"""From what files and environment say to Settings: one spelling of each key, layers merged, faults named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from postmill.domain.errors import SettingsError
from postmill.domain.settings import Settings
from postmill.domain.settings_keys import fold, names, shape
from postmill.domain.settings_seed import keys_below, translate
from postmill.domain.settings_types import Section
from postmill.domain.suggest import did_you_mean

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place: `source` names it in errors. Of two layers the later one wins.

    `loose`: names of queues and the like are matched to earlier ones by letters and digits only, for the
    environment cannot spell all others.
    """

    source: str
    tree: Mapping[Any, Any]
    loose: bool = False


def build(layers: Sequence[Layer]) -> Settings:
    """What the layers add up to. SettingsError names key and source of anything unknown or wrong."""
    merged: Tree = {}
    seed_curve = False
    placed: list[tuple[str, Tree]] = []
    for layer in layers:
        native, seed = translate(_expand(layer.tree), layer.source)
        seed_curve = seed_curve or "base_delay" in seed.get("retry", {})
        tree = _merge(seed, _place(Settings, native, layer.source, ""), _fold_case)
        merged = _merge(merged, tree, _fold_symbols if layer.loose else _fold_case)
        placed.append((layer.source, tree))
    if seed_curve:
        # The seed's formula has no cap: its attempt 5 waits 360 to 600 s, above the default cap of 300 s.
        merged["retry"].setdefault("max_delay", None)
    try:
        return Settings.model_validate(merged)
    except ValidationError as fault:
        raise _wrong_value(fault, placed) from None


def _fold_case(name: str) -> str:
    return name.casefold()


def _fold_symbols(name: str) -> str:
    return re.sub(r"\W", "_", name.casefold())


def _expand(tree: Mapping[Any, Any]) -> Tree:
    """Dotted keys at the top (`worker.lease: 20`) as nested ones."""
    made: Tree = {}
    for key, value in tree.items():
        first, dot, rest = str(key).partition(".")
        made = _merge(made, {first: _expand({rest: value})} if dot else {first: value}, str)
    return made


def _place(section: type[Section], tree: Mapping[Any, Any], source: str, prefix: str) -> Tree:
    """The tree with each key as its field is called."""
    known = names(section)
    by_fold = {fold(key): name for key, name in known.items()}
    made: Tree = {}
    for raw, value in tree.items():
        key = str(raw)
        name = by_fold.get(fold(key))
        if name is None:
            place = f"{prefix.rstrip('.')!r}" if prefix else "the top level"
            hint = did_you_mean(key, known, noun=f"keys of {place}")
            raise SettingsError(f"unknown setting {prefix + key!r} in {source}{hint}")
        if name in made:
            raise SettingsError(f"setting {prefix + key!r} in {source} is given twice, in two spellings")
        kind, inner = shape(section.model_fields[name])
        if inner is None:
            made[name] = value
        elif kind == "section":
            made[name] = _place(inner, keys_below(value, prefix + key, source), source, f"{prefix}{key}.")
        else:
            made[name] = {
                str(item): _place(
                    inner,
                    keys_below(below, f"{prefix}{key}.{item}", source),
                    source,
                    f"{prefix}{key}.{item}.",
                )
                for item, below in keys_below(value, prefix + key, source).items()
            }
    return made


def _merge(low: Mapping[str, Any], high: Mapping[str, Any], same: Callable[[str], str]) -> Tree:
    """Both trees; `high` wins. Keys that `same` makes equal are one key, in the spelling of `low`."""
    made = dict(low)
    for key, value in high.items():
        alike = [known for known in low if same(known) == same(key)]
        place = key if key in low or len(alike) != 1 else alike[0]
        if isinstance(value, Mapping) and isinstance(made.get(place), Mapping):
            made[place] = _merge(made[place], value, same)
        else:
            made[place] = value
    return made


def _wrong_value(fault: ValidationError, placed: Sequence[tuple[str, Tree]]) -> SettingsError:
    lines = []
    for detail in fault.errors(include_url=False, include_input=False, include_context=False)[:10]:
        path = [part for part in detail["loc"] if isinstance(part, str)]
        here = path[:-1] if detail["type"] == "missing" else path
        source = next((source for source, tree in reversed(placed) if _holds(tree, here)), None)
        key = ".".join("schema" if part == "schema_name" else part for part in path)
        lines.append(
            f"setting {key!r}"
            + (f" in {source}" if source else "")
            + f": {detail['msg'].removeprefix('Value error, ')}"
        )
    return SettingsError("; ".join(lines))


def _holds(tree: Any, path: Sequence[str]) -> bool:
    for part in path:
        if not isinstance(tree, Mapping):
            return True
        alike = [key for key in tree if _fold_symbols(key) == _fold_symbols(part)]
        if not alike:
            return False
        tree = tree[alike[0]]
    return True
