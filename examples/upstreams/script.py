"""What a scripted server answers on its bad days, to which requests: always the same, so tests can count."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Body = Literal["good", "garbage", "cut", "none"]
"""`garbage` is no JSON, `cut` ends in the middle, `none` closes the connection without an answer."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Answer(_Frozen):
    """One answer. `retry_after` is the header's text; `delay` is waited before the first byte, in seconds."""

    status: int = 200
    retry_after: str | None = None
    delay: float = Field(default=0.0, ge=0)
    body: Body = "good"


class Rule(_Frozen):
    """Every `every`-th new request, from the `first` on, gets these answers first, then good ones."""

    every: int = Field(ge=1)
    first: int = Field(default=1, ge=1)
    answers: tuple[Answer, ...]

    def covers(self, number: int) -> bool:
        """Whether the rule speaks of the `number`-th new request, from 1."""
        return number >= self.first and (number - self.first) % self.every == 0


class Script(_Frozen):
    """Latency in seconds, drawn for each call from [low, high]; the first rule that fits decides."""

    latency: tuple[float, float] = (0.02, 0.12)
    rules: tuple[Rule, ...] = ()

    def answer(self, number: int, call: int) -> Answer:
        """The answer to call number `call` of the `number`-th new request, both from 1."""
        rule = next((rule for rule in self.rules if rule.covers(number)), None)
        return rule.answers[call - 1] if rule is not None and call <= len(rule.answers) else Answer()


def _busy(seconds: int) -> Answer:
    return Answer(status=429, retry_after=str(seconds))


CALM = Script()
"""Always well, with latency."""

USUAL = Script(
    rules=(
        Rule(every=40, first=23, answers=(_busy(1), Answer(status=503, retry_after="2"))),
        Rule(every=17, first=9, answers=(_busy(1),)),
        Rule(every=71, first=31, answers=(Answer(status=503, retry_after="2"),)),
        Rule(every=90, first=50, answers=(Answer(delay=0.9),)),
    )
)
"""What one sees on any day: rate limits, short outages that say how long, a slow answer. Costs seconds."""

ROUGH = Script(
    rules=(
        *USUAL.rules,
        Rule(every=60, first=14, answers=(Answer(status=500),)),
        Rule(every=80, first=27, answers=(Answer(body="garbage"),)),
        Rule(every=100, first=41, answers=(Answer(body="none"),)),
        Rule(every=110, first=66, answers=(Answer(body="cut"),)),
    )
)
"""Also errors that name no time: each costs the 30 s step of the retry table."""

SCRIPTS = {"calm": CALM, "usual": USUAL, "rough": ROUGH}


def load_script(text: str) -> Script:
    """A script by its name, or from JSON. ValueError for anything else."""
    if text in SCRIPTS:
        return SCRIPTS[text]
    if not text.lstrip().startswith("{"):
        raise ValueError(f"no script is called {text!r}; there are: {', '.join(SCRIPTS)}, or give JSON")
    return Script.model_validate_json(text)
