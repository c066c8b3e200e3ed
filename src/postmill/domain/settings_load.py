"""Reads the settings: a file (`postmill.toml`, `postmill.yaml`), then the environment (`POSTMILL_*`)."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from postmill.domain.errors import SettingsError
from postmill.domain.settings import Settings
from postmill.domain.settings_tree import Layer, build

FILES = ("postmill.toml", "postmill.yaml", "postmill.yml")
PREFIX = "POSTMILL_"
PATH_VARIABLE = "POSTMILL_SETTINGS"
"""Names the settings file, where none is given."""

_VARIABLE = re.compile(r"\$?\$\{(?P<name>[A-Za-z_]\w*)(?::(?P<default>[^}]*))?\}", re.ASCII)
# What Kubernetes puts into the environment of every pod beside a service called postmill or postmill-….
_KUBERNETES = re.compile(
    r"POSTMILL(_[A-Z0-9]+)*_(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)"
)


def load(
    path: str | Path | None = None,
    *,
    env: Mapping[str, str] | None = None,
    folder: str | Path = ".",
    overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """The settings of this process.

    The file is `path`, or the one that POSTMILL_SETTINGS names, or the one of FILES that lies in `folder`
    (none is fine, two are refused). `${NAME}` and `${NAME:default}` in its values come from `env` (default:
    the process's environment); `$${` is a literal `${`. Then POSTMILL_<KEY> variables, with `__` between the
    parts of a key (POSTMILL_WORKER__LEASE), and last `overrides`, a tree, as from a command line. Raises
    SettingsError, naming key and source.
    """
    variables = os.environ if env is None else env
    layers = []
    found = _find(path or variables.get(PATH_VARIABLE) or None, Path(folder))
    if found is not None:
        tree = _substituted(_read(found), variables, str(found), "")
        layers.append(Layer(str(found), tree))
    layers.extend(_of_environment(variables))
    if overrides:
        layers.append(Layer("the command line", overrides))
    return build(layers)


def _find(path: str | Path | None, folder: Path) -> Path | None:
    if path is not None:
        return Path(path)
    present = [folder / name for name in FILES if (folder / name).is_file()]
    if len(present) > 1:
        both = " and ".join(file.name for file in present)
        raise SettingsError(f"there are {both} in {folder}; keep one, or name it in {PATH_VARIABLE}")
    return present[0] if present else None


def _read(path: Path) -> Mapping[Any, Any]:
    if path.suffix not in (".toml", ".yaml", ".yml"):
        raise SettingsError(f"{path}: settings are .toml, .yaml or .yml files")
    try:
        text = path.read_text(encoding="utf-8")
        tree = tomllib.loads(text) if path.suffix == ".toml" else _read_yaml(text, path)
    except FileNotFoundError:
        raise SettingsError(f"there is no settings file {path}") from None
    except (OSError, ValueError) as fault:
        raise SettingsError(f"{path} cannot be read: {fault}") from None
    if tree is None:
        return {}
    if not isinstance(tree, Mapping):
        raise SettingsError(f"{path} holds no settings: its top must be keys with values")
    return tree


def _read_yaml(text: str, path: Path) -> Any:
    import yaml  # most settings are none, or TOML

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as fault:
        # Not str(fault): it quotes the line, and settings hold secrets.
        line = fault.problem_mark.line + 1 if fault.problem_mark else "?"
        raise SettingsError(f"{path} cannot be read: line {line}: {fault.problem}") from None
    except yaml.YAMLError as fault:
        raise SettingsError(f"{path} cannot be read: {fault}") from None


def _substituted(value: Any, variables: Mapping[str, str], source: str, key: str) -> Any:
    """`value` with ${…} replaced in every text. A text that comes out empty counts as not set."""
    if isinstance(value, Mapping):
        return {k: _substituted(v, variables, source, f"{key}.{k}".lstrip(".")) for k, v in value.items()}
    if isinstance(value, list):
        return [_substituted(item, variables, source, key) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value

    def replacement(found: re.Match[str]) -> str:
        if found[0].startswith("$$"):
            return found[0][1:]
        name, default = found["name"], found["default"]
        text = variables.get(name, default)
        if text is None:
            raise SettingsError(
                f"setting {key!r} in {source} needs the environment variable {name}; "
                f"set it, or write ${{{name}:default}}"
            )
        return text

    return _VARIABLE.sub(replacement, value) or None


def _of_environment(variables: Mapping[str, str]) -> list[Layer]:
    """One layer per variable, so that an error names it. An empty variable counts as not set."""
    layers = []
    for name in sorted(variables):
        if not name.startswith(PREFIX) or name == PATH_VARIABLE or not variables[name].strip():
            continue
        if _KUBERNETES.fullmatch(name) or name.startswith("POSTMILL_TEST_"):
            continue
        parts = name[len(PREFIX) :].lower().split("__")
        tree: Any = _parsed(variables[name])
        for part in reversed(parts):
            tree = {part: tree}
        layers.append(Layer(f"environment variable {name}", tree, loose=True))
    return layers


def _parsed(text: str) -> Any:
    """Lists and objects are written as JSON; everything else stays text, which the setting itself reads."""
    if text.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
