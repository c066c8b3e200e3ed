"""What the enrichment service does with a text: language, title, key phrases and summary, all of it here."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from functools import lru_cache

import nupunkt
import py3langid
import yake
from sumy.parsers.plaintext import PlaintextParser
from sumy.summarizers.lex_rank import LexRankSummarizer

TITLE_CHARACTERS = 90
SUMMARY_SENTENCES = 2
SUMMARY_CHARACTERS = 320
KEY_PHRASES = 5
_LONGEST_PHRASE = 40
_SHORTEST_SENTENCE = 30


@dataclass(frozen=True, slots=True)
class Analysis:
    """An ISO 639-1 code, one line, a few phrases (the best first), one or two sentences of the text."""

    language: str
    title: str
    key_phrases: list[str]
    summary: str


def analyse(text: str) -> Analysis:
    """The analysis of a text; the same text always gives the same."""
    heading, body = _split_heading(text)
    with _classifying:  # the classifier keeps state between its steps
        language = str(py3langid.classify(text)[0])
    sentences = [sentence for sentence in _sentences(body) if len(sentence) >= _SHORTEST_SENTENCE] or [body]
    return Analysis(
        language, _title(heading, sentences[0]), _key_phrases(language, body), _summary(sentences)
    )


_classifying = threading.Lock()


def _split_heading(text: str) -> tuple[str, str]:
    """A first line that is no sentence is a heading."""
    first, _, rest = text.strip().partition("\n")
    first = first.strip(" #")
    if rest.strip() and len(first) <= TITLE_CHARACTERS and not first.endswith((".", "!", "?", ":", "。")):
        return first, rest.strip()
    return "", text.strip()


def _sentences(text: str) -> list[str]:
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n|(?<=。)", text):
        found.extend(map(str, nupunkt.sent_tokenize(" ".join(paragraph.split()))))
    return [sentence for sentence in found if sentence]


def _title(heading: str, first_sentence: str) -> str:
    """A heading of one word alone says little, so the first sentence follows it."""
    if " " in heading:
        return _shorten(heading, TITLE_CHARACTERS)
    sentence = first_sentence.rstrip(".:")
    return _shorten(f"{heading}: {sentence}" if heading else sentence, TITLE_CHARACTERS)


def _key_phrases(language: str, text: str) -> list[str]:
    phrases = [phrase for phrase, _ in _extractor(language).extract_keywords(text)]
    return [phrase for phrase in phrases if len(phrase) <= _LONGEST_PHRASE][:KEY_PHRASES]


@lru_cache(maxsize=128)
def _extractor(language: str) -> yake.KeywordExtractor:
    # A language without a list of stop words falls back to the library's neutral list.
    return yake.KeywordExtractor(lan=language, n=3, dedup_lim=0.6, top=3 * KEY_PHRASES)


class _Tokens:
    """What the summariser needs of a tokenizer, without the data that NLTK's would download."""

    def to_sentences(self, paragraph: str) -> list[str]:
        return [paragraph]

    def to_words(self, sentence: str) -> list[str]:
        return re.findall(r"\w+", sentence.lower())


def _summary(sentences: list[str]) -> str:
    sentences = [sentence for sentence in sentences if re.search(r"\w", sentence)] or sentences
    if len(sentences) <= SUMMARY_SENTENCES:
        return _shorten(" ".join(sentences), SUMMARY_CHARACTERS)
    # One sentence a paragraph: they are split already, by rules that know abbreviations.
    document = PlaintextParser.from_string("\n\n".join(sentences), _Tokens()).document
    chosen = [str(sentence) for sentence in LexRankSummarizer()(document, SUMMARY_SENTENCES)]
    return _shorten(" ".join(chosen), SUMMARY_CHARACTERS)


def _shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = text[: most - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:") + "…"
