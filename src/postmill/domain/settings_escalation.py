"""Settings of escalation: channels, policies, hours, and which of them is for what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from postmill.domain.business_hours import Hours, parse_days, parse_time
from postmill.domain.escalation import KINDS, Escalation, Outlet, Policy, parse_step
from postmill.domain.limit import Rate
from postmill.domain.settings_limits import parse_rate
from postmill.domain.settings_types import Count, PositiveSeconds, Section, comma_separated
from postmill.domain.suggest import did_you_mean
from postmill.domain.zone import zone

ChannelKind = Literal["pagerduty", "slack", "email", "webhook", "apprise"]

DEFAULT_RATES = {
    "pagerduty": "120/1m",
    "slack": "1/1s",
    "email": "30/1m",
    "webhook": "10/1s",
    "apprise": "1/1s",
}
"""How often each kind of service may be told something: what they allow, or bear."""


def _time(value: str) -> str:
    parse_time(value)
    return value


def _days(value: str) -> str:
    parse_days(value)
    return value


def _zone(value: str) -> str:
    zone(value)
    return value


def _dates(value: tuple[str, ...]) -> tuple[str, ...]:
    for one in value:
        date.fromisoformat(one)
    return value


def _steps(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        raise ValueError("a policy has at least one step")
    for one in value:
        parse_step(one)
    return value


def _rate(value: str) -> str:
    parse_rate(value)
    return value


Texts = Annotated[tuple[str, ...], BeforeValidator(comma_separated)]
TimeOfDay = Annotated[str, AfterValidator(_time)]
Zone = Annotated[str, AfterValidator(_zone)]


class CalendarSettings(Section):
    """Business hours, as `escalation.calendars.<NAME>`."""

    zone: Zone = Field(default="UTC", description="Whose wall clock counts, e.g. `Europe/Amsterdam`.")
    days: Annotated[str, AfterValidator(_days)] = Field(default="mon-fri", description="Days with hours.")
    begin: TimeOfDay = Field(default="09:00", description="When they begin.")
    end: TimeOfDay = Field(default="17:00", description="When they end; an earlier time is on the next day.")
    holidays: Annotated[Texts, AfterValidator(_dates)] = Field(
        default=(), description="Days without hours, as `2026-12-25`, comma-separated."
    )

    @property
    def hours(self) -> Hours:
        """As the domain has them."""
        days = frozenset(date.fromisoformat(one) for one in self.holidays)
        return Hours(self.zone, parse_days(self.days), parse_time(self.begin), parse_time(self.end), days)


class ChannelSettings(Section):
    """Where people are told, as `escalation.channels.<NAME>`."""

    kind: ChannelKind = Field(description="`pagerduty`, `slack`, `email`, `webhook` or `apprise`.")
    url: SecretStr | None = Field(
        default=None,
        description="Of Slack the webhook, of a webhook its address, of Apprise its URL; of PagerDuty another events endpoint.",
    )
    key: SecretStr | None = Field(
        default=None,
        description="Of PagerDuty the integration key, of a webhook the secret that signs (`whsec_…`).",
    )
    to: Texts = Field(default=(), description="Of e-mail the addresses, comma-separated.")
    rate: Annotated[str, AfterValidator(_rate)] | None = Field(
        default=None,
        description="Messages per time, e.g. `1/1s`; none is what the kind of service allows. What waits longer than ten"
        " seconds is told in summaries.",
    )
    digest: TimeOfDay | None = Field(
        default=None,
        description="Time of the day at which all is told together, e.g. `08:00`; none is at once.",
    )
    zone: Zone = Field(default="UTC", description="Whose wall clock `digest` is.")
    hours: str | None = Field(
        default=None,
        description="Calendar in whose hours it is used; what is not critical waits for them. None is always.",
    )
    fallback: str | None = Field(
        default=None,
        description="Channel that is told instead where this one does not work; none is the next there is.",
    )
    tries: Count = Field(default=5, description="Failures in a row after which it counts as not working.")
    timeout: PositiveSeconds = Field(default=10.0, description="Seconds that the service has to answer.")

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        wanted = {
            "pagerduty": (("key", self.key),),
            "slack": (("url", self.url),),
            "email": (("to", self.to),),
            "webhook": (("url", self.url), ("key", self.key)),
            "apprise": (("url", self.url),),
        }
        for name, value in wanted[self.kind]:
            if not value:
                raise ValueError(f"a channel of kind {self.kind} needs {name!r}")
        return self

    @property
    def pace(self) -> Rate:
        """How often it may be used."""
        return parse_rate(self.rate or DEFAULT_RATES[self.kind])


class PolicySettings(Section):
    """Who is told after whom, as `escalation.policies.<NAME>`."""

    steps: Annotated[Texts, AfterValidator(_steps)] = Field(
        description="Channels in order, each with the response time of the one before: `pagerduty, lead after 15m`."
    )
    hours: str | None = Field(
        default=None, description="Calendar in whose hours response times count; none is around the clock."
    )
    repeat: PositiveSeconds | None = Field(
        default=None,
        description="Seconds until the last step is taken again while nobody acknowledges, ten times at most; none is never.",
    )


class KindSettings(Section):
    """Policies for kinds of incidents, whatever queue they are about. A channel's name is a policy of one step."""

    sla_breach: str | None = Field(
        default=None, description="A queue is late, and has no contact that is a channel."
    )
    job_exhausted: str | None = Field(default=None, description="A job was given up.")
    dead_letters: str | None = Field(default=None, description="Dead letters pile up.")
    stale_workers: str | None = Field(default=None, description="Workers went silent.")
    missed_trigger: str | None = Field(default=None, description="A schedule did not run.")
    budget: str | None = Field(default=None, description="A budget reached a threshold.")
    error_spike: str | None = Field(
        default=None, description="Jobs fail of one cause far more often than usual."
    )
    replica_lag: str | None = Field(default=None, description="A standby server is behind.")


class EscalationSettings(Section):
    """Who is told of incidents. Secrets come as `${VARIABLE}`; they are never stored or shown."""

    pagerduty_key: SecretStr | None = Field(
        default=None,
        description="Integration key of PagerDuty's Events API v2: makes the channel `pagerduty`.",
    )
    slack_webhook: SecretStr | None = Field(
        default=None, description="URL of the Slack webhook: makes the channel `slack`."
    )
    ops_email: str | None = Field(
        default=None, description="Mailbox for daily digests: makes the channel `email`."
    )
    digest: TimeOfDay = Field(default="08:00", description="Time of the day of the digest to `ops_email`.")
    zone: Zone = Field(default="UTC", description="Whose wall clock `digest` is.")
    smtp_url: SecretStr | None = Field(
        default=None,
        description="Mail server: `smtp://USER:PASSWORD@HOST:587` (TLS where it offers it), or `smtps://`; none is `smtp://localhost:25`.",
    )
    mail_from: str = Field(default="postmill@localhost", description="Sender of e-mails.")
    link: str | None = Field(
        default=None,
        description="Address of a job's page with `{id}` in it; none makes it of `server.public_url`.",
    )
    default: str | None = Field(
        default=None, description="Policy or channel for what has none; none is the first channel there is."
    )
    kinds: KindSettings = Field(default=KindSettings(), description="Policies by kind of incident.")
    channels: dict[str, ChannelSettings] = Field(default_factory=dict, description="Channels by name.")
    policies: dict[str, PolicySettings] = Field(default_factory=dict, description="Policies by name.")
    calendars: dict[str, CalendarSettings] = Field(
        default_factory=dict, description="Business hours by name."
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        channels, policies = self.all_channels, self.policies
        for name, channel in channels.items():
            _known(f"channels.{name}.fallback", channel.fallback, channels, "channels")
            _known(f"channels.{name}.hours", channel.hours, self.calendars, "calendars")
        for name, policy in policies.items():
            if name in channels:
                raise ValueError(f"policies.{name}: a channel has this name, too")
            _known(f"policies.{name}.hours", policy.hours, self.calendars, "calendars")
            for text in policy.steps:
                _known(f"policies.{name}.steps", parse_step(text).channel, channels, "channels")
        for place, wanted in (("default", self.default), *self._kinds().items()):
            _known(place, wanted, [*policies, *channels], "policies and channels")
        return self

    @property
    def all_channels(self) -> dict[str, ChannelSettings]:
        """The channels by name, with those of the three short keys; one that is written out in full wins."""
        made: dict[str, ChannelSettings] = {}
        if self.pagerduty_key is not None:
            made["pagerduty"] = ChannelSettings(kind="pagerduty", key=self.pagerduty_key)
        if self.slack_webhook is not None:
            made["slack"] = ChannelSettings(kind="slack", url=self.slack_webhook)
        if self.ops_email is not None:
            made["email"] = ChannelSettings(
                kind="email", to=(self.ops_email,), digest=self.digest, zone=self.zone
            )
        return made | self.channels

    def _kinds(self) -> dict[str, str]:
        found = {kind: getattr(self.kinds, kind, None) for kind in KINDS}
        return {kind: name for kind, name in found.items() if name is not None}

    @property
    def plan(self) -> Escalation:
        """As the domain has it."""
        hours = {name: calendar.hours for name, calendar in self.calendars.items()}
        outlets = {
            name: Outlet(
                name,
                channel.fallback,
                hours[channel.hours] if channel.hours else None,
                parse_time(channel.digest) if channel.digest else None,
                channel.zone,
            )
            for name, channel in self.all_channels.items()
        }
        policies = {
            name: Policy(
                name,
                tuple(parse_step(text) for text in policy.steps),
                hours[policy.hours] if policy.hours else None,
                policy.repeat,
            )
            for name, policy in self.policies.items()
        }
        return Escalation(outlets, policies, self._kinds(), self.default)


def _known(place: str, name: str | None, known: Iterable[str] | Mapping[str, object], noun: str) -> None:
    names = list(known)
    if name is not None and name not in names:
        raise ValueError(f"{place}: there is no {name!r}{did_you_mean(name, names, noun=noun)}")
