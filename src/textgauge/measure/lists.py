"""Single texts, as frames: all with their values, copies, duplicates, gaps, groups, the best ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.data import Corpus
from textgauge.encode.tokenizers import compute_offsets, split_alphanumeric
from textgauge.metrics.numerics.passages import Passages
from textgauge.metrics.properties.base import TOKENIZER, MeasuredCorpus, NearestMatches
from textgauge.metrics.properties.meaning import find_nearest_other, find_outlying
from textgauge.metrics.properties.repeats import find_duplicates_within, get_passages
from textgauge.metrics.properties.repeats import modes as modes_of
from textgauge.metrics.properties.texts import count_words
from textgauge.metrics.properties.wording import RUN, find_templates

if TYPE_CHECKING:
    import polars as pl


def check_threshold(threshold: float) -> None:
    """Refuse a similarity that no text, or every text, has."""
    if not 0.5 < threshold <= 1.0:
        share = f"; did you mean {threshold / 100:g}?" if 50 <= threshold <= 100 else ""
        raise InputError(f"near copies are texts of a similarity from 0.5 to 1, not {threshold:g}{share}")


def get_texts(corpus: Corpus, rows: Ints | Sequence[int]) -> list[str]:
    """Return the texts at these places."""
    return list(corpus.take(rows).texts)


def make_frame(corpus: str, **columns: Any) -> pl.DataFrame:
    """Return columns next to the name of the corpus: arrays, or lists of texts; null where a number does not exist."""
    import polars as pl

    names = [corpus] * len(next(iter(columns.values())))
    texts = {name: pl.String for name, cells in columns.items() if isinstance(cells, list)}
    return pl.DataFrame({"corpus": names, **columns}, schema_overrides={"corpus": pl.String, **texts}, nan_to_null=True)


RATING = "rating"  # the question of ratings that name none


def name_rating(question: str) -> str:
    """Return the name that the ratings of a question have among other values of texts.

    >>> name_rating("rating"), name_rating("fluency")
    ('rating', 'rating_fluency')
    """
    return question if question == RATING else f"{RATING}_{question}"


def list_texts(measured: MeasuredCorpus, held_out: Corpus | None, ratings: Mapping[str, Floats]) -> pl.DataFrame:
    """Return one row per text: its values, and the texts it is nearest to; null where a value does not exist."""
    import polars as pl

    corpus, n = measured.corpus, len(measured.corpus)
    nothing = np.full(n, np.nan)
    errors, words = (nothing, nothing) if measured.grammar is None else measured.grammar
    logs = measured.text_values().get("plausibility")
    perplexity = nothing if logs is None else np.exp(np.minimum(logs, 700.0))
    columns: dict[str, Any] = {"index": corpus.source_rows, "text": list(corpus.texts)}
    if measured.train is None:
        duplicate = measured.derive(find_duplicates_within)
        has_meaning = measured.embedder is not None
        columns |= {
            "words": count_words(measured).astype(np.int64),
            "duplicate": np.where(duplicate.index < 0, np.nan, corpus.source_rows[duplicate.index]),
            "duplicate_similarity": duplicate.similarity,
            **_make_passage_columns(measured),
            "nearest_cosine": measured.derive(find_nearest_other).similarity if has_meaning else nothing,
            "outlier": measured.derive(find_outlying) if has_meaning else np.zeros(n, dtype=bool),
            "grammar_errors": errors,
            "perplexity": perplexity,
        }
        return make_frame(measured.name, **columns).with_columns(pl.col("duplicate", "passage_index").cast(pl.Int64))
    _, place, times = np.unique(measured.forms, return_inverse=True, return_counts=True)
    groups = measured.derive(modes_of)
    columns |= {
        "unique": (times[place] == 1) & ~np.isin(measured.forms, measured.train.forms),
        "mode_size": groups.sizes[groups.group],
        **_make_nearest_columns("semantic", "nearest_test", measured.semantic, held_out, n),
        **_make_nearest_columns("syntactic", "nearest_train", measured.syntactic, measured.train.corpus, n),
        **_make_passage_columns(measured),
        "grammar_errors": errors,
        "words": words,
        "perplexity": perplexity,
    }
    columns |= {name_rating(question): values for question, values in ratings.items()}
    whole = pl.col("grammar_errors", "words", "passage_index").cast(pl.Int64)
    return make_frame(measured.name, **columns).with_columns(whole)


def cut_words(text: str, start: int, count: int) -> str:
    """Return the part of a text that holds so many words from a place on, with the signs between them.

    >>> cut_words("We saw: the RED\\ncat!", 2, 3)
    'the RED\\ncat!'
    """
    pieces = list(re.finditer(r"\S+", text))
    ends = compute_offsets([len(split_alphanumeric(piece[0])) for piece in pieces])
    first, last = np.searchsorted(ends, [start, start + count - 1], side="right") - 1
    return text[pieces[first].start() : pieces[last].end()]


def list_passages(measured: MeasuredCorpus) -> pl.DataFrame:
    """Return one row per copied passage: its text, its words, and where it stands in both corpora."""
    found, others = get_passages(measured)
    texts, columns = measured.corpus.texts, (found.texts.tolist(), found.starts.tolist(), found.lengths.tolist())
    return make_frame(
        measured.name,
        index=measured.corpus.source_rows[found.texts],
        start=found.starts,
        words=found.lengths,
        passage=[cut_words(texts[row], start, count) for row, start, count in zip(*columns, strict=True)],
        match_index=others.source_rows[found.others],
        match_start=found.places,
    )


def cut_longest_passages(corpus: Corpus, found: Passages) -> list[str | None]:
    """Return the longest passage of each text; None where it has none."""
    texts = corpus.texts
    return [
        None if at < 0 else cut_words(texts[row], int(found.starts[at]), int(found.lengths[at]))
        for row, at in enumerate(found.longest.tolist())
    ]


def _make_passage_columns(measured: MeasuredCorpus) -> dict[str, Any]:
    """Return for each text its longest copied passage, the row it comes from, and how much of the text is copied."""
    found, others = get_passages(measured)
    longest = found.longest
    known = np.flatnonzero(longest >= 0)
    places = np.full(len(longest), np.nan)
    places[known] = others.source_rows[found.others[longest[known]]]
    return {
        "longest_passage": np.append(found.lengths, 0)[longest],
        "copied_share": found.shares,
        "contained": found.is_contained,
        "passage": cut_longest_passages(measured.corpus, found),
        "passage_index": places,
    }


def _make_nearest_columns(
    value: str, name: str, found: NearestMatches | None, corpus: Corpus | None, n: int
) -> dict[str, Any]:
    if found is None or corpus is None:
        return {value: np.full(n, np.nan), name: [None] * n}
    return {value: found.similarity, name: get_texts(corpus, found.index)}


def list_matches(
    name: str,
    matched: tuple[Corpus, NearestMatches, Corpus, NDArray[np.bool_]] | None,
    columns: tuple[str, str, str],
) -> pl.DataFrame:
    """Return texts that are marked, the similarity to their match, and the match, under the names in `columns`.

    `matched` are texts, their matches, the texts that these are of, and the marks. A `match` comes with its place.
    """
    nowhere = np.empty(0, dtype=np.int64)
    index, places, similarity, texts, others = nowhere, nowhere, np.empty(0), list[str](), list[str]()
    if matched is not None:
        queries, matches, documents, hits = matched
        rows = np.flatnonzero(hits)
        nearest, similarity = matches.index[rows], matches.similarity[rows]
        index, places = queries.source_rows[rows], documents.source_rows[nearest]
        texts, others = get_texts(queries, rows), get_texts(documents, nearest)
    values = {"index": index, columns[0]: texts, columns[1]: similarity}
    values |= {"match_index": places} if columns[2] == "match" else {}
    return make_frame(name, **values, **{columns[2]: others})


def list_modes(measured: MeasuredCorpus, least: int) -> pl.DataFrame:
    """Return the groups of at least `least` equal or nearly equal texts, each with its most frequent text."""
    groups = measured.derive(modes_of)
    group, sizes = groups.group, groups.sizes
    large = np.flatnonzero(sizes >= least)
    forms, first = np.unique(measured.forms, return_index=True)  # group g is named after form g in this order
    different = np.bincount(group[first], minlength=len(forms))
    return make_frame(
        measured.name,
        texts=sizes[large],
        share=sizes[large] / len(measured.corpus),
        different=different[large],
        example=get_texts(measured.corpus, first[large]),
    )


def list_templates(measured: MeasuredCorpus) -> pl.DataFrame:
    """Return the runs of four words that many texts hold, the most frequent first, with an example of each."""
    counts, first, _ = measured.derive(find_templates)
    tokens = measured.corpus.tokens(TOKENIZER)
    rows = np.searchsorted(tokens.offsets, first, side="right") - 1
    runs = [tokens.ids[place : place + RUN].tolist() for place in first.tolist()]
    return make_frame(
        measured.name,
        template=[" ".join(tokens.vocabulary[token] for token in run) for run in runs],
        texts=counts,
        share=counts / len(measured.corpus),
        example=get_texts(measured.corpus, rows),
    )


def pick_texts(measured: MeasuredCorpus, n: int, *, plausible: bool) -> Ints:
    """Return the places of the n texts with the best trade-off, each form once; see `rank_trade_offs`.

    Larger is better of nearness to test by meaning, distance from train by wording (1 − SynSim) and, with `plausible`,
    plausibility (less surprise per token).
    """
    values = measured.text_values()
    names = ["semantic", "syntactic", *(["plausibility"] if plausible else [])]
    if any(name not in values for name in names):
        return np.empty(0, dtype=np.int64)
    goods = np.column_stack([values[name] if name == "semantic" else -values[name] for name in names])
    first = np.sort(np.unique(measured.forms, return_index=True)[1])
    order = first[np.argsort(measured.corpus.keys[first], kind="stable")]
    return order[rank_trade_offs(goods[order])[:n]]


def rank_trade_offs(goods: Floats) -> Ints:
    """Return the rows by their trade-off: Pareto front by front, within a front nearest to the ideal point first.

    A front is what no row left is better than (as good in every column and better in one). The ideal point has the
    largest value of every column; distances are Euclidean after each column was scaled to 0 … 1. Rows with a missing
    value are left out; equal rows are in one front, the first first.

    >>> rank_trade_offs(np.array([[0.9, 0.1], [0.6, 0.6], [0.5, 0.5], [0.1, 0.9]])).tolist()
    [1, 0, 3, 2]
    """
    rows = np.flatnonzero(np.isfinite(goods).all(axis=1))
    if not len(rows):
        return rows
    rows = rows[np.lexsort((rows, *(-goods[rows].T[::-1])))]  # falling, so that only earlier rows are better
    values = goods[rows]
    front = np.zeros(len(rows), dtype=np.int64)
    for place, row in enumerate(values):
        better = (values[:place] >= row).all(axis=1) & (values[:place] != row).any(axis=1)
        front[place] = 1 + front[:place][better].max(initial=-1)
    reach = np.ptp(values, axis=0)
    gaps = (values.max(axis=0) - values) / np.where(reach > 0, reach, 1.0)
    return rows[np.lexsort((rows, np.sqrt((gaps * gaps).sum(axis=1)), front))]
