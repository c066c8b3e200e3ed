"""The job types that a worker knows, gathered from modules: the order of imports does not matter."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, TypeAlias

from postmill.domain.errors import DefinitionError, UnknownJobType
from postmill.domain.job_type import JobType
from postmill.domain.policy import RetryPolicy
from postmill.domain.resource import Resource

AnyJobType = JobType[..., ..., Any]
Source: TypeAlias = "str | ModuleType | Registry | AnyJobType | Resource[Any]"


class Registry:
    """An immutable set of job types, found by name or alias, and the resources that a worker opens for them.

    Two types that claim one name (or alias) are refused with DefinitionError, which says where both stand.
    """

    def __init__(self, job_types: Iterable[AnyJobType] = (), resources: Iterable[Resource[Any]] = ()) -> None:
        self.resources: tuple[Resource[Any], ...] = tuple(dict.fromkeys(resources))
        self._types: dict[str, AnyJobType] = {}
        self._by_name: dict[str, AnyJobType] = {}
        for job_type in job_types:
            if self._types.get(job_type.name) is job_type:
                continue
            for name in (job_type.name, *job_type.aliases):
                other = self._by_name.get(name)
                if other is not None:
                    raise DefinitionError(
                        f"two job types are called {name!r}: {_place(other)} and {_place(job_type)}"
                    )
                self._by_name[name] = job_type
            self._types[job_type.name] = job_type

    @classmethod
    def collect(cls, *sources: str | ModuleType | Registry | AnyJobType | Resource[Any]) -> Registry:
        """The job types and resources at the top level of modules (by name or object), and inside packages.

        Imports what is not imported yet. Registries, single job types and resources may be given, too, and a module
        may hold a registry. Raises DefinitionError for a module that does not exist, and for doubled names.
        """
        found = [one for source in sources for one in _found_in(source)]
        return cls(
            [one for one in found if isinstance(one, JobType)],
            [one for one in found if isinstance(one, Resource)],
        )

    def with_retry(self, policy: RetryPolicy, max_attempts: int) -> Registry:
        """The same types, with the settings' policy and attempts where `@job` names none."""
        changed = [_with_retry(job_type, policy, max_attempts) for job_type in self]
        return Registry(changed, self.resources)

    def with_lanes(self, rule_of: Callable[[str], str]) -> Registry:
        """The same types, with the rule of their queue (`rule_of(queue)`) where `@job` names no lane."""
        changed = [
            job_type
            if job_type.lane is not None
            else dataclasses.replace(job_type, lane=rule_of(job_type.queue))
            for job_type in self
        ]
        return Registry(changed, self.resources)

    def with_limits(self, limit_of: Callable[[str], int | None]) -> Registry:
        """The same types, with the settings' limit per worker command where they name one."""
        changed = [
            job_type
            if (limit := limit_of(job_type.name)) is None
            else dataclasses.replace(job_type, worker_limit=limit)
            for job_type in self
        ]
        return Registry(changed, self.resources)

    def __getitem__(self, name: str) -> AnyJobType:
        """The type of this name or alias; UnknownJobType (with what was probably meant) if there is none."""
        found = self._by_name.get(name)
        if found is None:
            raise UnknownJobType(name, self._by_name)
        return found

    def get(self, name: str) -> AnyJobType | None:
        """The type of this name or alias, or None."""
        return self._by_name.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[AnyJobType]:
        return iter(self._types.values())

    def __len__(self) -> int:
        return len(self._types)

    def __repr__(self) -> str:
        return f"<Registry of {', '.join(self._types) or 'nothing'}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all types, without aliases."""
        return tuple(self._types)

    @property
    def queues(self) -> tuple[str, ...]:
        """The queues that the types belong to, in the order of their first type."""
        return tuple(dict.fromkeys(job_type.queue for job_type in self))

    def of_queue(self, queue: str) -> tuple[AnyJobType, ...]:
        """The types that belong to a queue, spelled exactly."""
        return tuple(job_type for job_type in self if job_type.queue == queue)


def _with_retry(job_type: AnyJobType, policy: RetryPolicy, max_attempts: int) -> AnyJobType:
    changes: dict[str, Any] = {"retry": policy, "max_attempts": max_attempts}
    changes = {name: value for name, value in changes.items() if name not in job_type.explicit}
    return dataclasses.replace(job_type, **changes) if changes else job_type


def _found_in(source: Source) -> Iterator[AnyJobType | Resource[Any]]:
    if isinstance(source, JobType | Resource):
        yield source
        return
    if isinstance(source, Registry):
        yield from source
        yield from source.resources
        return
    for module in _modules(_import(source) if isinstance(source, str) else source):
        for value in list(vars(module).values()):
            if isinstance(value, JobType | Resource):
                yield value
            elif isinstance(value, Registry):
                yield from _found_in(value)


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as fault:
        # Only where the module itself is missing; what it fails to import on its own is shown as it is.
        if fault.name is not None and (name == fault.name or name.startswith(f"{fault.name}.")):
            raise DefinitionError(
                f"there is no module {name!r} (looked in the current folder and sys.path)"
            ) from None
        raise


def _modules(module: ModuleType) -> Iterator[ModuleType]:
    yield module
    for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
        if not info.name.endswith(".__main__"):
            yield importlib.import_module(info.name)


def _place(job_type: AnyJobType) -> str:
    return f"{job_type.fn.__module__}.{job_type.fn.__qualname__}"
