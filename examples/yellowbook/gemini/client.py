"""`embedContent` and `batchEmbedContents` of the Gemini API (v1beta), by HTTP."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import httpx
from pydantic import BaseModel, Field, ValidationError

from examples.yellowbook.gemini.errors import GeminiError, of_response, of_transport

DIMENSIONS = 768
MOST_IN_A_BATCH = 100

Task = Literal["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
M = TypeVar("M", bound=BaseModel)


class _Embedding(BaseModel):
    values: list[float] = Field(min_length=DIMENSIONS, max_length=DIMENSIONS)


class _One(BaseModel):
    embedding: _Embedding


class _Many(BaseModel):
    embeddings: list[_Embedding]


class Gemini:
    """One per event loop; keeps its connections open between calls.

    Args:
        url: of the API, without a path.
        key: asked for the API key before each call.
        timeout: of one call, in seconds.
    """

    def __init__(self, url: str, key: Callable[[], str], model: str, timeout: float) -> None:
        self._http = httpx.AsyncClient(base_url=url, timeout=timeout)
        self._key = key
        self._model = f"models/{model}"

    async def embed(self, text: str, task: Task = "RETRIEVAL_DOCUMENT") -> list[float]:
        """The embedding of a text: 768 floats. Raises GeminiError."""
        answer = await self._call("embedContent", self._request(text, task), _One)
        return _usable(answer.embedding)

    async def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
        """The embeddings of up to 100 documents, in order. Raises GeminiError: all of them have one, or none."""
        requests = [self._request(text, "RETRIEVAL_DOCUMENT") for text in texts]
        answer = await self._call("batchEmbedContents", {"requests": requests}, _Many)
        if len(answer.embeddings) != len(texts):
            raise GeminiError(
                f"{len(answer.embeddings)} embeddings for {len(texts)} texts", code="BAD_ANSWER", status=None
            )
        return [_usable(embedding) for embedding in answer.embeddings]

    def _request(self, text: str, task: Task) -> dict[str, Any]:
        return {
            "model": self._model,
            "content": {"parts": [{"text": text}]},
            "taskType": task,
            "outputDimensionality": DIMENSIONS,
        }

    async def _call(self, method: str, body: object, answer: type[M]) -> M:
        try:
            response = await self._http.post(
                f"/v1beta/{self._model}:{method}", json=body, headers={"x-goog-api-key": self._key()}
            )
        except httpx.TransportError as error:
            raise of_transport(error) from error
        if response.status_code != 200:
            raise of_response(response)
        try:
            return answer.model_validate_json(response.content)
        except ValidationError as error:
            raise GeminiError("an answer that holds no embedding of 768 floats", code="BAD_ANSWER") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _usable(embedding: _Embedding) -> list[float]:
    if not all(map(math.isfinite, embedding.values)) or not any(embedding.values):
        raise GeminiError("an embedding without a direction", code="BAD_ANSWER")
    return embedding.values
