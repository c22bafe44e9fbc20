"""`languagetool:URL`: a LanguageTool server that the user runs; `languagetool:URL#de-DE` for another language.

Matches of the categories casing, typography, style and redundancy are not grammar and do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from textgauge.arrays import Ints
from textgauge.encode.endpoint import shown_address
from textgauge.encode.grammar import lengths, sums
from textgauge.encode.tokenizers import without_surrogates
from textgauge.errors import MissingExtra, ResourceError, UnknownName

LANGUAGE = "en-US"
IGNORED = frozenset({"CASING", "TYPOGRAPHY", "STYLE", "REDUNDANCY"})
AT_ONCE = 4


@dataclass(frozen=True)
class LanguageToolChecker:
    """A server at an address, for one language."""

    url: str
    language: str = LANGUAGE

    @classmethod
    def named(cls, address: str) -> LanguageToolChecker:
        """Give the checker that `URL` or `URL#LANGUAGE` stands for."""
        url, _, language = address.partition("#")
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UnknownName("write languagetool:URL with the address of your server, as http://localhost:8081")
        return cls(url.rstrip("/").removesuffix("/v2/check").removesuffix("/v2"), language or LANGUAGE)

    @property
    def name(self) -> str:
        """The name it is called by, without what is secret in the address."""
        address = f"{urlsplit(self.url).scheme}://{shown_address(self.url)}"
        return f"languagetool:{address}" + (f"#{self.language}" if self.language != LANGUAGE else "")

    @cached_property
    def signature(self) -> str:
        """Everything the numbers depend on, the version the server tells among it."""
        with self._client() as client:
            software = self._ask(client, ".").get("software")
        version = software.get("version") if isinstance(software, dict) else None
        ignored = "|".join(sorted(IGNORED)).lower()
        return f"languagetool(server={version or 'unknown'},language={self.language},ignored={ignored},version=1)"

    def errors(self, texts: Sequence[str]) -> Ints:
        """Give the number of errors of each text; 0 for an empty one. ResourceError where the server fails."""
        return sums(texts, self._count)

    def lengths(self, texts: Sequence[str]) -> Ints:
        """Give the number of words of each text, signs left out."""
        return lengths(texts)

    def _count(self, pieces: list[str]) -> list[int]:
        if not pieces:
            return []
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            with self._client() as client:
                return list(pool.map(lambda piece: self._matches(self._ask(client, piece)), pieces))
        finally:
            pool.shutdown(cancel_futures=True)

    def _client(self) -> Any:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra.named(self.name, "api") from error
        return httpx.Client(timeout=httpx.Timeout(60, connect=10))

    def _ask(self, client: Any, piece: str) -> dict[str, Any]:
        import httpx

        form = {"text": without_surrogates(piece), "language": self.language}
        try:
            answer = client.post(f"{self.url}/v2/check", data=form)
            answer.raise_for_status()
            found = answer.json()
        except httpx.HTTPStatusError as error:
            raise ResourceError(f"{self.name} answered with status {error.response.status_code}") from None
        except httpx.HTTPError as error:
            problem = type(error).__name__
            raise ResourceError(f"no LanguageTool server at {self.name} ({problem}): start it, or use harper") from None
        except ValueError:
            found = None
        if not isinstance(found, dict) or not isinstance(found.get("matches"), list):
            raise ResourceError(f"{self.name} did not answer as LanguageTool does")
        return found

    def _matches(self, answer: dict[str, Any]) -> int:
        try:
            categories = [match["rule"]["category"]["id"] for match in answer["matches"]]
        except (KeyError, TypeError):
            raise ResourceError(f"{self.name} did not answer as LanguageTool does") from None
        return sum(category not in IGNORED for category in categories)
