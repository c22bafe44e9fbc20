"""Single texts as frames: all with their values; copies, duplicates, gaps, groups; those to pick or to leave out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError, UnknownName
from textgauge.data import Corpus
from textgauge.encode.tokenizers import compute_offsets, split_alphanumeric
from textgauge.metrics.numerics.passages import Passages
from textgauge.metrics.numerics.search import NearestMatches
from textgauge.metrics.properties.base import TOKENIZER, MeasuredCorpus
from textgauge.metrics.properties.meaning import SAME, find_nearest, find_outlying
from textgauge.metrics.properties.repeats import find_duplicates, find_word_matches, get_passages, group_texts
from textgauge.metrics.properties.texts import compute_curve, count_forms, count_languages, count_words
from textgauge.metrics.properties.wording import RUN, find_templates

if TYPE_CHECKING:
    import polars as pl

CLEANED = ("duplicates", "near_duplicates", "copies")
CLEANABLE = (*CLEANED, "passages")
RATING = "rating"  # the question of ratings that name none


def check_threshold(threshold: float) -> None:
    """Refuse a similarity that no text, or every text, has."""
    if not 0.5 < threshold <= 1.0:
        share = f"; did you mean {threshold / 100:g}?" if 50 <= threshold <= 100 else ""
        raise InputError(f"near copies are texts of a similarity from 0.5 to 1, not {threshold:g}{share}")


def _get_texts(corpus: Corpus, rows: Ints | Sequence[int]) -> list[str]:
    return list(corpus.take(rows).texts)


def _make_frame(measured: MeasuredCorpus, **columns: Any) -> pl.DataFrame:
    """Return columns next to the name of the corpus: arrays, or lists of texts; null where a number does not exist."""
    import polars as pl

    names = [measured.name] * len(next(iter(columns.values())))
    texts = {name: pl.String for name, cells in columns.items() if isinstance(cells, list)}
    return pl.DataFrame({"corpus": names, **columns}, schema_overrides={"corpus": pl.String, **texts}, nan_to_null=True)


def name_rating(question: str) -> str:
    """Return the name that the ratings of a question have among other values of texts.

    >>> name_rating("rating"), name_rating("fluency")
    ('rating', 'rating_fluency')
    """
    return question if question == RATING else f"{RATING}_{question}"


def list_texts(measured: MeasuredCorpus) -> pl.DataFrame:
    """Return one row per text: its values, and the texts it is nearest to; null where a value does not exist."""
    import polars as pl

    corpus, train = measured.corpus, measured.train
    nothing = np.full(len(corpus), np.nan)
    errors, words = (nothing, nothing) if measured.grammar is None else measured.grammar
    perplexity = np.exp(np.minimum(measured.text_values().get("plausibility", nothing), 700.0))
    columns: dict[str, Any] = {"index": corpus.source_rows, "text": list(corpus.texts)}
    if train is None:
        duplicate = measured.derive(find_duplicates, None)
        has_meaning = measured.embedder is not None
        columns |= {
            "words": count_words(measured).astype(np.int64),
            "duplicate": np.where(duplicate.index < 0, np.nan, corpus.source_rows[duplicate.index]),
            "duplicate_similarity": duplicate.similarity,
            **_make_passage_columns(measured),
            "nearest_cosine": measured.derive(find_nearest, None).similarity if has_meaning else nothing,
            "outlier": measured.derive(find_outlying) if has_meaning else np.zeros(len(corpus), dtype=bool),
            "grammar_errors": errors,
            "perplexity": perplexity,
        }
        return _make_frame(measured, **columns).with_columns(pl.col("duplicate", "passage_index").cast(pl.Int64))
    _, place, times = np.unique(measured.forms, return_inverse=True, return_counts=True)
    group, sizes = measured.derive(group_texts)
    columns |= {
        "unique": (times[place] == 1) & ~np.isin(measured.forms, train.forms),
        "mode_size": sizes[group],
        **_make_nearest_columns("semantic", "nearest_test", measured.semantic, measured.test, len(corpus)),
        **_make_nearest_columns("syntactic", "nearest_train", measured.syntactic, train.corpus, len(corpus)),
        **_make_passage_columns(measured),
        "grammar_errors": errors,
        "words": words,
        "perplexity": perplexity,
        **{name_rating(question): values for question, values in measured.ratings.items()},
    }
    whole = pl.col("grammar_errors", "words", "passage_index").cast(pl.Int64)
    return _make_frame(measured, **columns).with_columns(whole)


def cut_words(text: str, start: int, count: int) -> str:
    """Return the part of a text that holds so many words from a place on, with the signs between them.

    >>> cut_words("We saw: the RED\\ncat!", 2, 3)
    'the RED\\ncat!'
    """
    pieces = list(re.finditer(r"\S+", text))
    ends = compute_offsets([len(split_alphanumeric(piece[0])) for piece in pieces])
    first, last = np.searchsorted(ends, [start, start + count - 1], side="right") - 1
    return text[pieces[first].start() : pieces[last].end()]


def _list_passages(measured: MeasuredCorpus) -> pl.DataFrame:
    found, others = get_passages(measured)
    texts, columns = measured.corpus.texts, (found.texts.tolist(), found.starts.tolist(), found.lengths.tolist())
    return _make_frame(
        measured,
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
    return {value: found.similarity, name: _get_texts(corpus, found.index)}


def _list_matches(
    measured: MeasuredCorpus,
    found: NearestMatches | None,
    others: Corpus | None = None,
    hits: NDArray[np.bool_] | None = None,
    names: tuple[str, str, str] = ("text", "similarity", "match"),
    queries: Corpus | None = None,
) -> pl.DataFrame:
    """Return the texts that have a match, or those in `hits`, the similarity, and the match, of the corpus or `others`.

    Nothing where nothing was `found`. A `match` comes with its place.
    """
    texts, others = queries or measured.corpus, others or measured.corpus
    rows = nearest = np.empty(0, dtype=np.int64)
    similarity = np.empty(0)
    if found is not None:
        rows = np.flatnonzero(found.index >= 0 if hits is None else hits)
        nearest, similarity = found.index[rows], found.similarity[rows]
    columns = {"index": texts.source_rows[rows], names[0]: _get_texts(texts, rows), names[1]: similarity}
    columns |= {"match_index": others.source_rows[nearest]} if names[2] == "match" else {}
    return _make_frame(measured, **columns, **{names[2]: _get_texts(others, nearest)})


def _list_near_duplicates(measured: MeasuredCorpus) -> pl.DataFrame:
    return _list_matches(measured, measured.derive(find_duplicates, None))


def _list_shared(measured: MeasuredCorpus) -> pl.DataFrame:
    return _list_matches(measured, measured.derive(find_duplicates, measured.against), measured.against)


def _list_restated(measured: MeasuredCorpus) -> pl.DataFrame:
    if measured.embedder is None:
        return _list_matches(measured, None)
    found = measured.derive(find_nearest, measured.against)
    return _list_matches(measured, found, measured.against, found.similarity >= SAME)


def _list_outliers(measured: MeasuredCorpus) -> pl.DataFrame:
    if measured.embedder is None:
        return _list_matches(measured, None)
    return _list_matches(measured, measured.derive(find_nearest, None), hits=measured.derive(find_outlying))


def _list_near_copies(measured: MeasuredCorpus, least: float | None = None) -> pl.DataFrame:
    least = measured.near_copy if least is None else least
    check_threshold(least)
    train, found = measured.others, measured.syntactic
    hits = None if found is None else found.similarity >= least
    return _list_matches(measured, found, train, hits, ("text", "syntactic", "train"))


def _list_uncovered(measured: MeasuredCorpus, reach: float | None = None) -> pl.DataFrame:
    found = measured.covered
    hits = None if found is None else found.similarity < (measured.reach if reach is None else reach)
    return _list_matches(measured, found, None, hits, ("test", "semantic", "nearest"), measured.test)


def _list_languages(measured: MeasuredCorpus) -> pl.DataFrame:
    found = measured.derive(count_languages)
    counts = np.array(list(found.values()), dtype=np.int64)
    names = [language or "not known" for language in found]
    return _make_frame(measured, language=names, texts=counts, share=counts / len(measured.corpus))


def _list_curve(measured: MeasuredCorpus) -> pl.DataFrame:
    return _make_frame(measured, **compute_curve(measured.derive(count_forms)))


def _list_label_conflicts(measured: MeasuredCorpus) -> pl.DataFrame:
    """Return equal texts and near duplicates whose labels differ, each with the first such text and both labels."""
    import polars as pl

    nearest, forms = measured.derive(find_duplicates, None), measured.forms.tolist()
    given = [None] * len(forms) if measured.labels is None else measured.labels.astype(object).tolist()
    first: dict[int, dict[Any, int]] = {}  # the first text of each label, by form
    for row, (form, label) in enumerate(zip(forms, given, strict=True)):
        first.setdefault(form, {}).setdefault(label, row)
    match, similarity = np.full(len(forms), -1), nearest.similarity.copy()
    for row, (form, label, near) in enumerate(zip(forms, given, nearest.index.tolist(), strict=True)):
        equal = next((other for name, other in first[form].items() if name != label), None)
        if equal is not None:
            match[row], similarity[row] = equal, 1.0
        elif near >= 0 and given[near] != label:
            match[row] = near
    rows = np.flatnonzero(match >= 0)
    labels, others = ([given[row] for row in of.tolist()] for of in (rows, match[rows]))
    frame = _list_matches(measured, NearestMatches(match, similarity))
    frame.insert_column(3, pl.Series("label", labels, dtype=pl.String))
    return frame.with_columns(pl.Series("match_label", others, dtype=pl.String))


def _list_modes(measured: MeasuredCorpus, least: float | None = None) -> pl.DataFrame:
    group, sizes = measured.derive(group_texts)
    large = np.flatnonzero(sizes >= (2 if least is None else least))
    forms, first = np.unique(measured.forms, return_index=True)  # group g is named after form g in this order
    different = np.bincount(group[first], minlength=len(forms))
    return _make_frame(
        measured,
        texts=sizes[large],
        share=sizes[large] / len(measured.corpus),
        different=different[large],
        example=_get_texts(measured.corpus, first[large]),
    )


def _list_templates(measured: MeasuredCorpus) -> pl.DataFrame:
    counts, first, _ = measured.derive(find_templates)
    tokens = measured.corpus.tokens(TOKENIZER)
    rows = np.searchsorted(tokens.offsets, first, side="right") - 1
    runs = [tokens.ids[place : place + RUN].tolist() for place in first.tolist()]
    return _make_frame(
        measured,
        template=[" ".join(tokens.vocabulary[token] for token in run) for run in runs],
        texts=counts,
        share=counts / len(measured.corpus),
        example=_get_texts(measured.corpus, rows),
    )


class TextList(NamedTuple):
    """Texts behind the properties: how those of one corpus are listed, the column that orders them, what people read.

    The largest come first, or the smallest where `rises`. A list without a `title` is not printed.
    """

    make: Callable[..., pl.DataFrame]
    title: str = ""
    by: str = ""
    rises: bool = False

    def join(self, corpora: Sequence[MeasuredCorpus], *how: Any) -> pl.DataFrame:
        """Return the list of several corpora."""
        import polars as pl

        frame = pl.concat([self.make(one, *how) for one in corpora], how="diagonal")
        return frame.sort(self.by, descending=not self.rises, maintain_order=True) if self.by else frame


_LABELS = "equal texts and near duplicates with different labels"
ALONE = {
    "shared": TextList(_list_shared, "texts with a near duplicate in the other file", "similarity"),
    "labels": TextList(_list_label_conflicts, _LABELS, "similarity"),
    "passages": TextList(_list_passages, "passages that stand in another text too", "words"),
    "near_duplicates": TextList(_list_near_duplicates, "near duplicates", "similarity"),
    "same_meaning": TextList(_list_restated, "texts with the meaning of another text", "similarity"),
    "templates": TextList(_list_templates, "templates"),
    "outliers": TextList(_list_outliers, "outliers", "similarity", rises=True),
    "languages": TextList(_list_languages, "languages"),
}
BESIDE_TRAIN = {
    "near_copies": TextList(_list_near_copies, "near copies", "syntactic"),
    "passages": TextList(_list_passages, "passages of train", "words"),
    "labels": TextList(_list_label_conflicts, _LABELS, "similarity"),
    "uncovered": TextList(_list_uncovered, "uncovered test texts", "semantic", rises=True),
    "modes": TextList(_list_modes, "groups of equal or nearly equal texts", "texts"),
    "curve": TextList(_list_curve),
}


def list_kinds(corpora: Sequence[MeasuredCorpus]) -> dict[str, TextList]:
    """Return the lists that there are of described corpora, by name."""
    known = dict(ALONE if corpora[0].train is None else BESIDE_TRAIN)
    if all(one.labels is None for one in corpora):
        del known["labels"]
    if corpora[0].train is None and corpora[0].against is None:
        del known["shared"]
    return known


def list_removed(measured: MeasuredCorpus, drop: Sequence[str] = CLEANED) -> pl.DataFrame:
    """Return the texts to leave out, in their order: corpus, row, reason, and the row and the corpus of their match.

    `copies` are texts that equal, nearly equal or are contained in one of train or of the other file; `passages` are
    all that contain a passage of one. Of `duplicates`, equal but for case and punctuation, and of `near_duplicates` the
    first is kept; of near duplicates, texts are left out until none is left.
    """
    import polars as pl

    unknown = next((name for name in drop if name not in CLEANABLE), None)
    if unknown is not None:
        raise UnknownName.among("reason to leave out a text", unknown, CLEANABLE)
    corpus, train = measured.corpus, measured.train
    own, side = corpus.source_rows.tolist(), "against" if train is None else "train"
    removed: dict[int, tuple[str, str, int]] = {}

    def remove(hits: NDArray[np.bool_], reason: str, match: Ints) -> None:
        for row in np.flatnonzero(hits).tolist():
            removed.setdefault(row, (f"{reason} {side}", side, int(others.source_rows[match[row]])))

    if measured.others is not None:
        passages, others = get_passages(measured)
        source = np.append(passages.others, 0)[passages.longest]
        if "copies" in drop and train is not None and measured.syntactic is not None:
            forms, first = np.unique(train.forms, return_index=True)
            place = np.minimum(np.searchsorted(forms, measured.forms), len(forms) - 1)
            remove(forms[place] == measured.forms, "equal to a text of", first[place])
            near = measured.syntactic
            remove(near.similarity >= measured.near_copy, "near copy of", near.index)
        elif "copies" in drop:
            matches = measured.derive(find_duplicates, measured.against)
            remove(matches.index >= 0, "near copy of", matches.index)
        if "copies" in drop:
            remove(passages.is_contained, "contained in a text of", source)
        if "passages" in drop:
            remove(passages.longest >= 0, "passage of", source)
    if "duplicates" in drop:
        kept: dict[int, int] = {}
        for row, form in enumerate(measured.forms.tolist()):
            if row not in removed and kept.setdefault(form, row) != row:
                removed[row] = "duplicate", measured.name, own[kept[form]]
    before = -1
    while "near_duplicates" in drop and len(removed) > before:
        before, rows = len(removed), [row for row in range(len(corpus)) if row not in removed]
        for row, match in zip(rows, find_word_matches(corpus.take(rows)).index.tolist(), strict=True):
            if match >= 0 and rows[match] < row and rows[match] not in removed:
                removed[row] = "near duplicate", measured.name, own[rows[match]]
    texts = corpus.texts
    found = [(measured.name, own[row], *removed[row], texts[row]) for row in sorted(removed)]
    kinds = {"corpus": pl.String, "index": pl.Int64, "reason": pl.String, "match_in": pl.String}
    return pl.DataFrame(found, schema=kinds | {"match_index": pl.Int64, "text": pl.String}, orient="row")


def pick_texts(measured: MeasuredCorpus, n: int, plausible: bool) -> pl.DataFrame:
    """Return the n texts with the best trade-off, each form once, as `list_texts` has them; see `rank_trade_offs`.

    Larger is better of nearness to test by meaning, distance from train by wording (1 − SynSim) and, if `plausible`,
    plausibility (less surprise per token).
    """
    values = measured.text_values()
    goods = [values["semantic"], -values["syntactic"], *([-values["plausibility"]] if plausible else [])]
    first = np.sort(np.unique(measured.forms, return_index=True)[1])
    order = first[np.argsort(measured.corpus.keys[first], kind="stable")]
    rows: list[int] = order[rank_trade_offs(np.column_stack(goods)[order])[:n]].tolist()
    return list_texts(measured)[rows]


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
