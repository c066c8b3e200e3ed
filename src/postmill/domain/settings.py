"""Every setting: its key, unit, default and meaning. The reference page is made from the descriptions here.

The models only hold values; files and environment are read by `settings_load`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, SecretStr, model_validator

from postmill.domain.limit import Limit
from postmill.domain.policy import Exponential
from postmill.domain.queue import Queue
from postmill.domain.settings_api import ApiSettings
from postmill.domain.settings_archive import ArchiveSettings
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.domain.settings_budgets import BudgetSettings, check_names
from postmill.domain.settings_cells import CellSettings, cell_named, check_cells, directory_of
from postmill.domain.settings_console import ConsoleSettings
from postmill.domain.settings_dead import DeadLetterSettings, RecoverySettings
from postmill.domain.settings_definitions import CommandSettings, EncryptionSettings
from postmill.domain.settings_escalation import EscalationSettings
from postmill.domain.settings_limits import check_rate, limits_of
from postmill.domain.settings_queues import QueueSettings, declared, queue_names
from postmill.domain.settings_retention import RetentionSettings
from postmill.domain.settings_server import OidcSettings, ServerSettings
from postmill.domain.settings_types import Count, PositiveSeconds, Seconds, Section, comma_separated
from postmill.domain.suggest import did_you_mean

T = TypeVar("T")


class JobTypeSettings(Section):
    """What settings say of one job type, as `job_types.<NAME>`; the rest is said where it is defined."""

    worker_limit: Count | None = Field(
        default=None,
        description="Jobs of this type at once per `postmill worker` command; none is without limit.",
    )
    max_running: Count | None = Field(
        default=None,
        description="Jobs of this type at once over the whole fleet; none leaves it to code and operators.",
    )
    rate: Annotated[str | None, AfterValidator(check_rate)] = Field(
        default=None,
        description="How often jobs of this type start over the whole fleet: `10/1s`; none leaves it to others.",
    )
    dead_letters_above: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="An incident is raised when more dead letters of this type are open; none leaves it to the queue.",
    )


class WorkerSettings(Section):
    """The `postmill worker` command."""

    lease: PositiveSeconds = Field(
        default=30.0, description="Seconds a worker's right to its jobs lasts without renewal."
    )
    grace: Seconds = Field(default=30.0, description="Seconds that running jobs get to finish after SIGTERM.")
    processes: Count = Field(
        default=1, description="Processes that one command starts; they share its slots."
    )
    prefetch: int | None = Field(
        default=None,
        ge=0,
        description="Jobs claimed ahead of free slots; none adapts it to about a second of work.",
    )
    max_jobs_per_process: Count | None = Field(
        default=None, description="A process is replaced after so many jobs; none is never."
    )
    thread_slots: Count | None = Field(
        default=None,
        description="Threads for handlers that are plain functions; none is as many as there are slots.",
    )
    child_memory: Count | None = Field(
        default=None, description="MiB that a job with isolation `process` may use; none is without limit."
    )


class RetrySettings(Section):
    """How attempts of job types are spaced that name no policy of their own."""

    base_delay: Seconds = Field(default=5.0, description="Seconds after the first failed attempt.")
    factor: float = Field(
        default=2.0, gt=0, le=1e6, description="By how much the delay grows with each attempt."
    )
    max_delay: Seconds | None = Field(
        default=300.0, description="The longest delay in seconds; none is 30 days."
    )
    jitter: Annotated[tuple[float, float], BeforeValidator(comma_separated)] = Field(
        default=(0.75, 1.25), description="Range of the random factor on each delay."
    )
    max_attempts: Count = Field(default=5, description="Attempts in all.")
    max_lost: Count = Field(default=3, description="Attempts that may end with the death of their worker.")

    @model_validator(mode="after")
    def _is_a_curve(self) -> Self:
        _ = self.policy
        return self

    @property
    def policy(self) -> Exponential:
        """The settings as a retry policy."""
        return Exponential(self.base_delay, self.factor, self.max_delay, self.jitter)


class MetricsSettings(Section):
    """The Prometheus endpoint of a worker."""

    host: str = Field(default="127.0.0.1", description="Address on which `/metrics` listens.")
    port: int | None = Field(
        default=None, ge=0, le=65535, description="Port of `/metrics`; none is no endpoint."
    )


class LogSettings(Section):
    """What the commands write to standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least level written."
    )
    format: Literal["auto", "console", "json"] = Field(
        default="auto",
        description="`json`: an object a line; `console`: for people; `auto`: by whether it is a terminal.",
    )


class Settings(Section):
    """All settings."""

    database_url: SecretStr | None = Field(
        default=None, description="Connection string of the PostgreSQL database."
    )
    listen_url: SecretStr | None = Field(
        default=None, description="Direct connection for LISTEN where `database_url` leads through pgbouncer."
    )
    prepared_statements: bool = Field(
        default=True,
        description="Prepare what workers and clients run often on the server; off behind a pooler that does not"
        " bear it (pgbouncer before 1.21).",
    )
    schema_name: str = Field(
        default="postmill",
        alias="schema",
        min_length=1,
        max_length=48,
        description="PostgreSQL schema of all tables.",
    )
    build: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        default=None,
        description="What you call the code that workers run here, such as a release or a commit: stored with the worker"
        " and shown beside what it ran.",
    )
    notify: bool = Field(
        default=True, description="`on`: workers are woken by NOTIFY; `off`: they only poll."
    )
    queues: Annotated[dict[str, QueueSettings], AfterValidator(queue_names)] = Field(
        default_factory=dict, description="Queues by name; case matters not where only one fits."
    )
    job_types: dict[str, JobTypeSettings] = Field(default_factory=dict, description="Limits by job type.")
    worker: WorkerSettings = Field(default=WorkerSettings(), description="The worker command.")
    retry: RetrySettings = Field(default=RetrySettings(), description="Default retry policy.")
    metrics: MetricsSettings = Field(default=MetricsSettings(), description="Prometheus endpoint.")
    server: ServerSettings = Field(default=ServerSettings(), description="The HTTP API.")
    console: ConsoleSettings = Field(default=ConsoleSettings(), description="The web console.")
    api: ApiSettings = Field(default=ApiSettings(), description="Programs that call the HTTP API.")
    oidc: OidcSettings = Field(default=OidcSettings(), description="Tokens of an OpenID Connect provider.")
    commands: CommandSettings = Field(default=CommandSettings(), description="Jobs that are programs.")
    encryption: EncryptionSettings = Field(
        default=EncryptionSettings(), description="Keys of encrypted payloads."
    )
    artifacts: ArtifactSettings = Field(
        default=ArtifactSettings(), description="Files that jobs read or made."
    )
    log: LogSettings = Field(default=LogSettings(), description="Logs.")
    retention: RetentionSettings = Field(
        default_factory=RetentionSettings, description="How long what is kept."
    )
    archive: ArchiveSettings = Field(default=ArchiveSettings(), description="The cold archive.")
    partition_width: PositiveSeconds = Field(
        default=7 * 86400.0, description="Seconds of history in one partition: 7 days."
    )
    escalation: EscalationSettings = Field(
        default_factory=EscalationSettings, description="Escalation channels."
    )
    budgets: Annotated[dict[str, BudgetSettings], AfterValidator(check_names)] = Field(
        default_factory=dict, description="Budgets by name."
    )
    dead_letters: DeadLetterSettings = Field(
        default_factory=DeadLetterSettings, description="Jobs that were given up."
    )
    recovery: dict[str, RecoverySettings] = Field(default_factory=dict, description="Recovery rules by name.")
    cells: Annotated[dict[str, CellSettings], AfterValidator(check_cells)] = Field(
        default_factory=dict, description="Cells by name: databases that share the tenants."
    )
    _cell: str | None = PrivateAttr(default=None)

    @property
    def dsn(self) -> str | None:
        """`database_url` in clear, for the driver only; where it is not set, that of the directory's cell."""
        if self.database_url is None and (home := directory_of(self.cells)) is not None:
            return self.cells[home].dsn
        return self.database_url.get_secret_value() if self.database_url else None

    @property
    def listen_dsn(self) -> str | None:
        """`listen_url` in clear, or `database_url` where there is none."""
        return self.listen_url.get_secret_value() if self.listen_url else self.dsn

    def in_cell(self, name: str) -> Settings:
        """The settings as they are for one cell. Raises NotFound."""
        cell = cell_named(self.cells, name)
        here = self.model_copy(update={"database_url": cell.database_url, "listen_url": cell.listen_url})
        here._cell = name
        return here

    @property
    def cell(self) -> str | None:
        """The cell that these are the settings for, by `in_cell`; None: the directory's, or there are none."""
        return self._cell

    @model_validator(mode="after")
    def _escalates(self) -> Self:
        known = [*self.escalation.policies, *self.escalation.all_channels]
        for name, queue in self.queues.items():
            if known and queue.escalation is not None and queue.escalation not in known:
                hint = did_you_mean(queue.escalation, known, noun="policies and channels")
                raise ValueError(f"queues.{name}.escalation: there is no {queue.escalation!r}{hint}")
        return self

    @property
    def declared_queues(self) -> list[Queue]:
        """The queues that are written out, as they are stored."""
        return [declared(name, queue) for name, queue in self.queues.items()]

    def queue(self, name: str) -> QueueSettings:
        """The settings of a queue, found without case where only one fits; the defaults where none does."""
        return _without_case(self.queues, name) or QueueSettings()

    def limits_of(self, job_type: str) -> tuple[Limit, ...] | None:
        """What is said of how many jobs of a type run at once over the fleet, and how often they start; None: nothing."""
        said = self.job_type(job_type)
        return limits_of(said.max_running, said.rate)

    def job_type(self, name: str) -> JobTypeSettings:
        """The settings of a job type, found as those of a queue are."""
        return _without_case(self.job_types, name) or JobTypeSettings()


def _without_case(known: Mapping[str, T], name: str) -> T | None:
    if name in known:
        return known[name]
    alike = [value for key, value in known.items() if key.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None
