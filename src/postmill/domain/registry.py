"""The job types that a worker knows, gathered from modules: the order of imports does not matter."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, TypeAlias

from postmill.domain.declared import DeclaredTrigger
from postmill.domain.errors import DefinitionError, UnknownJobType
from postmill.domain.job_type import JobType
from postmill.domain.limit import Limit
from postmill.domain.policy import RetryPolicy
from postmill.domain.queue import USUAL_PRIORITY, Queue
from postmill.domain.resource import Resource

AnyJobType = JobType[..., ..., Any]
Source: TypeAlias = "str | ModuleType | Registry | AnyJobType | Resource[Any] | Queue"


class Registry:
    """An immutable set of job types, found by name or alias, with the triggers that their modules declare and the
    resources that a worker opens for them.

    Two types that claim one name (or alias), and two triggers of a tenant with one label, are refused with
    DefinitionError, which says where both stand.

    Attributes:
        modules: the modules that were collected; what they declared before and declare no more is taken out of use.
        triggers: declared triggers, each with its module's name.
        declared: queues that say who answers for them, by name.
    """

    def __init__(
        self,
        job_types: Iterable[AnyJobType] = (),
        resources: Iterable[Resource[Any]] = (),
        *,
        triggers: Iterable[tuple[str, DeclaredTrigger]] = (),
        modules: Iterable[str] = (),
        declared: Iterable[Queue] = (),
    ) -> None:
        job_types = list(job_types)
        said = _by_name(declared)
        # A Queue that stands in no module of its own comes with the types that belong to it.
        self.declared = queues_of(one for one in job_types if one.queue not in said) | said
        self.modules = tuple(dict.fromkeys(modules))
        self.triggers = _distinct(triggers)
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
        letters = {one.dead_letters_as: one.name for one in self.declared.values() if one.dead_letters_as}
        for job_type in self:
            if job_type.queue in letters:
                raise DefinitionError(
                    f"{_place(job_type)}: no job type can belong to {job_type.queue!r}, under which queue"
                    f" {letters[job_type.queue]!r} shows its dead letters"
                )

    @classmethod
    def collect(cls, *sources: Source) -> Registry:
        """The job types and resources at the top level of modules (by name or object), and inside packages.

        Imports what is not imported yet. Registries, single job types and resources may be given, too, and a module
        may hold a registry. Triggers that modules declare come with them. Raises DefinitionError for a module that
        does not exist, and for doubled names.
        """
        found = [item for source in sources for item in _found_in(source)]
        return cls(
            [value for _, value in found if isinstance(value, JobType)],
            [value for _, value in found if isinstance(value, Resource)],
            triggers=[(name, value) for name, value in found if isinstance(value, DeclaredTrigger)],
            modules=[value for _, value in found if isinstance(value, str)],
            declared=[value for _, value in found if isinstance(value, Queue)],
        )

    def with_retry(self, policy: RetryPolicy, max_attempts: int) -> Registry:
        """The same types, with the settings' policy and attempts where `@job` names none."""
        return self._of(_with_retry(job_type, policy, max_attempts) for job_type in self)

    def with_lanes(self, rule_of: Callable[[str], str]) -> Registry:
        """The same types, with the rule of their queue (`rule_of(queue)`) where `@job` names no lane."""
        return self._of(
            job_type
            if job_type.lane is not None
            else dataclasses.replace(job_type, lane=rule_of(job_type.queue))
            for job_type in self
        )

    def with_limits(self, limit_of: Callable[[str], int | None]) -> Registry:
        """The same types, with the settings' limit per worker command where they name one."""
        return self._of(
            job_type
            if (limit := limit_of(job_type.name)) is None
            else dataclasses.replace(job_type, worker_limit=limit)
            for job_type in self
        )

    def with_fleet_limits(self, limits_of: Callable[[str], tuple[Limit, ...] | None]) -> Registry:
        """The same types; what settings say of all of a type's jobs together takes the place of what `@job` says of them."""
        return self._of(
            job_type
            if (said := limits_of(job_type.name)) is None
            else dataclasses.replace(
                job_type, rate=None, limits=(*said, *(one for one in job_type.limits if one.parts))
            )
            for job_type in self
        )

    def with_calls(self, around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Registry:
        """The same types, their functions called by way of `around(function)`, which keeps coroutines what they are."""
        return self._of(dataclasses.replace(job_type, fn=around(job_type.fn)) for job_type in self)

    def _of(self, job_types: Iterable[AnyJobType]) -> Registry:
        return Registry(
            job_types,
            self.resources,
            triggers=self.triggers,
            modules=self.modules,
            declared=self.declared.values(),
        )

    def with_queues(self, queues: Iterable[Queue]) -> Registry:
        """The same types; what these declarations say of a queue wins over what code says of it, and the rest stays."""
        changed = dict(self.declared)
        own = [*changed, *self.queues]
        for queue in queues:
            alike = {name for name in own if name.casefold() == queue.name.casefold()}
            name = queue.name if queue.name in own or len(alike) != 1 else alike.pop()
            changed[name] = _saying(changed.get(name, Queue(name)), queue)
        return Registry(
            self, self.resources, triggers=self.triggers, modules=self.modules, declared=changed.values()
        )

    def joined(self, other: Registry) -> Registry:
        """The types, resources, triggers and queues of both."""
        return Registry(
            [*self, *other],
            [*self.resources, *other.resources],
            triggers=[*self.triggers, *other.triggers],
            modules=[*self.modules, *other.modules],
            declared=[*self.declared.values(), *other.declared.values()],
        )

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

    def priority_of(self, queue: str) -> int:
        """The order of a queue, spelled exactly, among others: lower is served first; 100 where nobody says."""
        said = self.declared[queue].priority if queue in self.declared else None
        return USUAL_PRIORITY if said is None else said

    def of_queue(self, queue: str) -> tuple[AnyJobType, ...]:
        """The types that belong to a queue, spelled exactly."""
        return tuple(job_type for job_type in self if job_type.queue == queue)


def _saying(queue: Queue, other: Queue) -> Queue:
    """The queue, with what another declaration says of it; where that says nothing it stays as it is."""
    said = {one.name: getattr(other, one.name) for one in dataclasses.fields(other) if one.name != "name"}
    return dataclasses.replace(queue, **{name: value for name, value in said.items() if value is not None})


def _with_retry(job_type: AnyJobType, policy: RetryPolicy, max_attempts: int) -> AnyJobType:
    changes: dict[str, Any] = {"retry": policy, "max_attempts": max_attempts}
    changes = {name: value for name, value in changes.items() if name not in job_type.explicit}
    return dataclasses.replace(job_type, **changes) if changes else job_type


Found = tuple[str, AnyJobType | Resource[Any] | DeclaredTrigger | Queue | str]
"""The module's name, and what was found in it: a job type, a resource, a trigger, a queue, or the module's own name."""


def queues_of(job_types: Iterable[AnyJobType]) -> dict[str, Queue]:
    """The queues that job types were declared with, by their names. Raises DefinitionError for two that differ."""
    return _by_name(one.declared for one in job_types if one.declared and one.declared.name == one.queue)


def _found_in(source: Source) -> Iterator[Found]:
    if isinstance(source, JobType | Resource | Queue):
        yield "", source
        return
    if isinstance(source, Registry):
        yield from _held(source)
        return
    for module in _modules(_import(source) if isinstance(source, str) else source):
        name = module.__name__
        yield name, name
        for value in list(vars(module).values()):
            if isinstance(value, JobType | Resource | DeclaredTrigger | Queue):
                yield name, value
            elif isinstance(value, Registry):
                yield from _held(value)


def _held(registry: Registry) -> Iterator[Found]:
    yield from (("", job_type) for job_type in registry)
    yield from (("", resource) for resource in registry.resources)
    yield from registry.triggers
    yield from ((module, module) for module in registry.modules)
    yield from (("", queue) for queue in registry.declared.values())


def _by_name(queues: Iterable[Queue]) -> dict[str, Queue]:
    made: dict[str, Queue] = {}
    for queue in queues:
        if made.setdefault(queue.name, queue) != queue:
            raise DefinitionError(f"queue {queue.name!r} is declared twice, in two ways")
    return made


def _distinct(triggers: Iterable[tuple[str, DeclaredTrigger]]) -> tuple[tuple[str, DeclaredTrigger], ...]:
    """Each once, under the first module that has it: one that is imported elsewhere is the same."""
    by_label: dict[tuple[object, str], tuple[str, DeclaredTrigger]] = {}
    for module, trigger in triggers:
        known = by_label.setdefault((trigger.tenant_id, trigger.label), (module, trigger))
        if known[1] is not trigger:
            raise DefinitionError(f"two triggers are called {trigger.label!r}: in {known[0]} and in {module}")
    return tuple(by_label.values())


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
