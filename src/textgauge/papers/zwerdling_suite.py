"""The suite of Zwerdling et al. 2021: make corpora, describe them, keep the descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from textgauge.errors import InputError, ResourceError, UnknownName
from textgauge.papers.zwerdling_corpora import STUDIES, Making, Say, Study
from textgauge.papers.zwerdling_described import Backends, Described, Row, described


@dataclass(frozen=True, kw_only=True)
class Zwerdling2021:
    """Generated corpora described as in Zwerdling et al. 2021: EDA, VAE, LM on three sources; Texygen's six.

    Every generator writes `n` texts, as many as train has unless told, so unique, new words and nearness to train by
    wording are those of equal numbers. Recall grows with the number of texts and precision does not, so both, by
    meaning and by wording, are taken at the size of test, too, as means over `draws`.
    `sources` names some of phone, news, health, texygen_coco; `limit` cuts a source for a trial, `captions` is the
    number of texts of each of Texygen's generators and of its test set.
    """

    n: int = 0
    limit: int = 0
    captions: int = 1_000
    draws: int = 5
    embedder: str = "minilm"
    grammar: str = "harper"
    plausibility: str = "kneser-ney"
    sources: str = ""

    def __post_init__(self) -> None:
        if min(self.n, self.limit) < 0 or min(self.captions, self.draws) < 1:
            raise InputError("n and limit are 0 or more, captions and draws 1 or more")

    def run(
        self, folder: Path, *, seed: int, on_step: Say, on_note: Say, studies: Mapping[str, Study] = STUDIES
    ) -> list[Described]:
        """Describe every source that is to be had; what the folder has of it is not done again."""
        making = Making(n=self.n, limit=self.limit, captions=self.captions, seed=seed)
        backends = Backends(
            embedder=self.embedder,
            grammar=self.grammar,
            plausibility=self.plausibility,
            draws=self.draws,
            seed=seed,
        )
        found, missing = [], []
        for name in self._chosen(studies):
            try:
                corpora = studies[name](folder, making, on_step, on_note)
            except ResourceError as error:
                missing.append(f"{name} is left out: {error}")
                on_note(missing[-1])
                continue
            description, new = described(name, corpora, backends, folder, on_step)
            on_note(f"{name}: {'described' if new else 'was there'}, kept in {folder / 'descriptions'}")
            found.append(description)
        if not found:
            raise ResourceError(missing[0])
        return found

    def _chosen(self, studies: Mapping[str, Study]) -> list[str]:
        names = [name.strip() for name in self.sources.split(",") if name.strip()] or list(studies)
        unknown = [name for name in names if name not in studies]
        if unknown:
            raise UnknownName.among("source", unknown[0], studies)
        return names


def side_by_side(found: list[Described]) -> list[Row]:
    """One row per source and property: the generators, test and train; `texts` tells whole corpora from draws."""
    rows: dict[tuple[str, str, str], Row] = {}
    for one in found:
        cells = [("all", row) for row in one.rows] + [(str(row["texts"]), row) for row in one.drawn]
        for size, row in cells:
            about = {"source": one.name, "property": row["property"], "texts": size}
            line = rows.setdefault((one.name, row["property"], size), about)
            line[row["corpus"]] = row["value"]
            line["test"] = row["test"]
            if size == "all":
                line["train"] = row["train"]
    return list(rows.values())
