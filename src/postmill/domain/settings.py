"""Every setting: its key, unit, default and meaning. The reference page is made from the descriptions here.

The models only hold values; files and environment are read by `settings_load`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from postmill.domain.lane import check_rule
from postmill.domain.policy import Exponential
from postmill.domain.queue import check_queue_name
from postmill.domain.settings_api import ApiSettings
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.domain.settings_definitions import CommandSettings, EncryptionSettings
from postmill.domain.settings_server import OidcSettings, ServerSettings
from postmill.domain.settings_types import Count, PositiveSeconds, Seconds, Section, comma_separated

T = TypeVar("T")


class QueueSettings(Section):
    """One queue, as `queues.<NAME>`."""

    slots: int = Field(
        default=10, ge=0, description="Jobs at once per `postmill worker` command, over all its processes."
    )
    priority: int = Field(default=100, description="Order among queues; a lower number is served first.")
    poll_interval: PositiveSeconds = Field(
        default=5.0,
        description="Seconds between looks for work when nothing rings; NOTIFY makes it a fallback only.",
    )
    owner: str | None = Field(default=None, description="Who answers for the queue.")
    contact: str | None = Field(
        default=None, description="Where the owner is told of a breach, e.g. `#platform-feeds`."
    )
    color: str | None = Field(default=None, description="Color of the queue in the console.")
    sla: PositiveSeconds | None = Field(
        default=None,
        description="Seconds within which 95 % of jobs must be finished once due; none is best effort.",
    )
    escalation: str | None = Field(
        default=None, description="Name of the escalation policy for jobs that are given up."
    )
    lane: Annotated[str, AfterValidator(check_rule)] = Field(
        default="tenant",
        description="Fair shares: `tenant`, `none` (strict order by priority) or `payload.<field>`.",
    )


class JobTypeSettings(Section):
    """What settings say of one job type, as `job_types.<NAME>`; the rest is said where it is defined."""

    worker_limit: Count | None = Field(
        default=None,
        description="Jobs of this type at once per `postmill worker` command; none is without limit.",
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


class RetentionSettings(Section):
    """How long ended jobs are kept, counted from their end.

    History goes by whole partitions, so the longest of succeeded, failed and canceled holds for all three.
    """

    succeeded: PositiveSeconds = Field(
        default=30 * 86400.0, description="Seconds that succeeded jobs are kept: 30 days."
    )
    failed: PositiveSeconds = Field(
        default=30 * 86400.0, description="Seconds that failed jobs are kept: 30 days."
    )
    canceled: PositiveSeconds = Field(
        default=30 * 86400.0, description="Seconds that canceled jobs are kept: 30 days."
    )
    dead_letter: PositiveSeconds = Field(
        default=90 * 86400.0, description="Seconds after which a dead letter is deleted: 90 days."
    )
    archive_after: PositiveSeconds = Field(
        default=30 * 86400.0,
        description="Seconds after which a dead letter goes to the cold archive: 30 days.",
    )
    archive_url: str | None = Field(
        default=None, description="fsspec URL of the cold archive; none is no archive."
    )

    @property
    def history(self) -> float:
        """Seconds that a partition of history is kept beyond its end."""
        return max(self.succeeded, self.failed, self.canceled)


class EscalationSettings(Section):
    """Credentials and addresses of the escalation channels."""

    pagerduty_key: SecretStr | None = Field(
        default=None, description="Integration key of PagerDuty's Events API v2."
    )
    slack_webhook: SecretStr | None = Field(default=None, description="URL of the Slack webhook.")
    ops_email: str | None = Field(default=None, description="Mailbox for daily digests.")


class BudgetSettings(Section):
    """A cap on spend, as `budgets.<NAME>`."""

    monthly_limit: Decimal = Field(ge=0, description="Most that may be spent in a calendar month, in `unit`.")
    unit: str = Field(default="USD", description="What is counted.")


def _queue_names(queues: Mapping[str, T]) -> Mapping[str, T]:
    for name in queues:
        check_queue_name(name)
    return queues


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
    notify: bool = Field(
        default=True, description="`on`: workers are woken by NOTIFY; `off`: they only poll."
    )
    queues: Annotated[dict[str, QueueSettings], AfterValidator(_queue_names)] = Field(
        default_factory=dict, description="Queues by name; case matters not where only one fits."
    )
    job_types: dict[str, JobTypeSettings] = Field(default_factory=dict, description="Limits by job type.")
    worker: WorkerSettings = Field(default=WorkerSettings(), description="The worker command.")
    retry: RetrySettings = Field(default=RetrySettings(), description="Default retry policy.")
    metrics: MetricsSettings = Field(default=MetricsSettings(), description="Prometheus endpoint.")
    server: ServerSettings = Field(default=ServerSettings(), description="The HTTP API.")
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
        default_factory=RetentionSettings, description="How long jobs are kept."
    )
    partition_width: PositiveSeconds = Field(
        default=7 * 86400.0, description="Seconds of history in one partition: 7 days."
    )
    escalation: EscalationSettings = Field(
        default_factory=EscalationSettings, description="Escalation channels."
    )
    budgets: dict[str, BudgetSettings] = Field(default_factory=dict, description="Budgets by name.")

    @property
    def dsn(self) -> str | None:
        """`database_url` in clear, for the driver only."""
        return self.database_url.get_secret_value() if self.database_url else None

    @property
    def listen_dsn(self) -> str | None:
        """`listen_url` in clear, or `database_url` where there is none."""
        return self.listen_url.get_secret_value() if self.listen_url else self.dsn

    def queue(self, name: str) -> QueueSettings:
        """The settings of a queue, found without case where only one fits; the defaults where none does."""
        return _without_case(self.queues, name) or QueueSettings()

    def job_type(self, name: str) -> JobTypeSettings:
        """The settings of a job type, found as those of a queue are."""
        return _without_case(self.job_types, name) or JobTypeSettings()


def _without_case(known: Mapping[str, T], name: str) -> T | None:
    if name in known:
        return known[name]
    alike = [value for key, value in known.items() if key.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None
