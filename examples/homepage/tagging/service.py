"""The model as a handler sees it: a question, an answer, and what both cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from examples.homepage.tagging.answers import tags_of
from examples.homepage.tagging.prompt import Article, build_prompt, most, price
from examples.homepage.tagging.settings import TaggingSettings
from examples.homepage.tagging.tags import AiTags


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said, why it ended, and what it has used."""

    text: str
    stop_reason: str | None
    tokens_in: int
    tokens_out: int

    @property
    def tags(self) -> AiTags:
        """The tags in it. Raises BadAnswer."""
        return tags_of(self.text, self.stop_reason)


class AiTaggingService:
    """Close it at the end. The client of the API takes two seconds to import, and is when somebody asks."""

    def __init__(self, settings: TaggingSettings) -> None:
        self.settings = settings
        self._client: Any = None

    async def close(self) -> None:
        """Give its connections back."""
        if self._client is not None:
            await self._client.close()

    def prompt(self, article: Article) -> str:
        """The question about an article."""
        return build_prompt(article, self.settings.max_content_length)

    def most(self, prompt: str) -> Decimal:
        """USD that a question can cost at most."""
        return most(prompt, self.settings)

    def price(self, answer: Answer) -> Decimal:
        """USD that it has cost."""
        return price(answer.tokens_in, answer.tokens_out, self.settings)

    async def ask(self, prompt: str) -> Answer:
        """One answer, within the time of the settings. Raises ItemFailed, TooBusy, Refused."""
        from examples.homepage.tagging import client

        if self._client is None:
            self._client = client.client_of(self.settings)
        return await client.ask(self._client, self.settings, prompt)
