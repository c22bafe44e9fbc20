"""What a source of texts is, for commands, Python and suites alike.

A source is a path, `PATH:COLUMN`, `-` for standard input, `sample:NAME`, the name of a published dataset, `hf://NAME`
or a file `hf://datasets/NAME@REVISION/PATH` of the hub; or what is in memory: a list, a stream, a data frame or a
column of one, an array of embeddings, a corpus. The files and folders are those of `textgauge.data.formats`.

Blank and missing texts of a corpus are left out with a warning that counts them, whether they come from a file or from
memory. Where the place of a text matters, as in pairs, blank ones are kept and missing ones refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from textgauge.core.errors import ArgumentError, InputError
from textgauge.core.show import shorten_line
from textgauge.data.datasets import (
    HUB_PREFIX,
    is_hub_file,
    list_published,
    load_published_pairs,
    load_published_texts,
    read_hub_table,
)
from textgauge.data.formats import get_format, is_glob, is_table, list_endings, read_embeddings, read_table
from textgauge.data.packing import PACKINGS, STDIN, PathLike, find_similar_files, format_path, split_endings
from textgauge.data.pool import Pool
from textgauge.data.samples import PREFIX, list_samples, sample, sample_pairs
from textgauge.data.tables import (
    LabelledTexts,
    TextPairs,
    TextTable,
    draw_rows,
    find_filled_rows,
    format_column_names,
    get_cells,
    get_columns,
    is_frame,
)
from textgauge.data.view import Corpus, TextsLike

Source: TypeAlias = "TextsLike | str | Path"


def load_corpus(
    source: Source, *, role: str | None = None, column: str | None = None, limit: int | None = None, seed: int = 0
) -> Corpus:
    """Load the corpus of any source, at most `limit` texts (or embeddings) of it, drawn with `seed`, in order.

    `column` names a column of a file or data frame; one named in the path itself (`PATH:COLUMN`) wins. A corpus object
    and an array are taken as they are; of all else blank texts are left out with a warning. With a `role`, such as
    "reference", a corpus that cannot be compared is refused under that name: it needs two different texts that are
    not blank. `source_rows` of the corpus say where its texts stood in the source.

    >>> len(load_corpus("sample:cooking", limit=2)), load_corpus(["a cat", "a dog"]).texts
    (2, ('a cat', 'a dog'))
    """
    if isinstance(source, str | os.PathLike) and get_format(source).holds != "embeddings":
        found = load_texts(source, column=column, limit=limit, seed=seed)
        pool = Pool(found.texts, source_rows=found.rows)
        corpus = Corpus(pool, np.arange(pool.size))
    else:
        corpus = _make_corpus(source, column, limit, seed)
    if role is not None:
        check_comparable(corpus, role)
    return corpus


def load_texts(
    spec: PathLike, *, column: str | None = None, labels: str | None = None, limit: int | None = None, seed: int = 0
) -> LabelledTexts:
    """Read texts from a path or name, at most `limit` of them, drawn with `seed` and kept in order.

    `column` is for tables: a text file beside a table has none to name. Without it: the column of `PATH:COLUMN`, else
    `text`, else the only one that holds texts; `labels` names a column too.
    Both mean nothing for samples and published datasets, whose parts are named `NAME/PART`. Blank and missing texts
    of files are left out with a warning that counts them.

    >>> load_texts("sample:cooking", limit=2).texts[1]
    'Meanwhile, the dough rests somewhere cold for an hour.'
    """
    name = os.fspath(spec)
    if name.startswith(PREFIX):
        return sample(name, n=limit, seed=seed)
    if has_builtin_columns(name):
        found = load_published_texts(name)
    else:
        path, column = split_column(name, column)
        table = load_table(path)
        texts = table.get_texts(column)
        rows = find_filled_rows(texts, table.name)
        if not rows:
            raise InputError(f"{table.name}: no texts, every {table.unit} is blank ({len(texts)} of {len(texts)})")
        marks = None if labels is None else tuple(map(str, table.columns[table.find_column(labels)]))
        found = LabelledTexts(tuple(text or "" for text in texts), marks, table.name)
        found = found if len(rows) == len(texts) else found.take(rows)
    return found if limit is None else found.draw(limit, seed)


def load_columns(source: object) -> Mapping[str, Sequence[Any]]:
    """Return the columns of a file of a table, or of a frame, by name; none for other sources."""
    if isinstance(source, str | os.PathLike):
        path, _ = split_column(os.fspath(source))
        return load_table(path).columns if os.path.isfile(path) and is_table(path) else {}
    return get_columns(source) if is_frame(source) else {}


def load_table(source: object) -> TextTable:
    """Return the table of a file, a folder or a log by its path or name, or of a frame or records in memory.

    A bare word that is no file raises an error with the nearest names.
    """
    if not isinstance(source, str | os.PathLike):
        return TextTable.of("the table", get_columns(source))
    name = os.fspath(source)
    if not name:
        raise InputError("the name of a file or dataset is empty")
    if name.startswith(HUB_PREFIX):
        return read_hub_table(name)
    if name.startswith(("http://", "https://")):
        raise InputError(
            f"{format_path(name)}: addresses are not read; fetch the file, or name a file of the hub, {HUB_PREFIX}…"
        )
    if is_path(name):
        return read_table(name)
    files = find_similar_files(name)
    if files:
        raise InputError(f"{format_path(name)}: no such file; did you mean {', '.join(map(format_path, files))}?")
    if " " in name:
        raise InputError(f"expected a file, a dataset or a list of texts, not one text: {shorten_line(repr(name), 80)}")
    known = [card.name for card in list_published()]
    known += [PREFIX + card.name for card in list_samples("texts")]
    near = get_close_matches(name, known, n=3, cutoff=0.5) or known[:4]
    raise InputError(f"{format_path(name)}: no such file or dataset; did you mean {', '.join(near)}?")


def load_aligned(source: Source, *, column: str | None = None) -> TextsLike:
    """Read texts (or embeddings) whose place matters: blank ones are kept, a missing one is refused.

    Cells in memory are given back as they are: lists of references stay lists.
    """
    if isinstance(source, Corpus | np.ndarray):
        return source
    if not isinstance(source, str | os.PathLike):
        return get_cells(source, column)
    if has_builtin_columns(source):
        return load_texts(source).texts
    if get_format(source).holds == "embeddings":
        return read_embeddings(source)
    path, column = split_column(os.fspath(source), column)
    return tuple(load_table(path).get_filled(column))


def load_references(sources: Sequence[Source], *, column: str | None = None) -> Any:
    """Return the references of every item: texts, or of several sources, which have one for each item, lists of texts.

    >>> load_references([["a", "b"]]), load_references([["a", "b"], ["c", "d"]])
    (['a', 'b'], [['a', 'c'], ['b', 'd']])
    """
    columns = [load_aligned(source, column=column) for source in sources]
    if len(columns) == 1:
        return columns[0]
    sizes = [len(texts) for texts in columns]
    if len(set(sizes)) > 1:
        names = [get_source_name(source, f"number {place}") for place, source in enumerate(sources, 1)]
        counts = ", ".join(f"{name} {size}" for name, size in zip(names, sizes, strict=True))
        raise InputError(f"several references need as many texts each; they have: {counts}")
    return [list(texts) for texts in zip(*columns, strict=True)]


def load_pairs(
    spec: PathLike,
    *,
    left: str = "left",
    right: str = "right",
    rating: str | None = None,
    scores: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
) -> TextPairs:
    """Read pairs from a table with the named columns, a sample of pairs or a published dataset; see `load_texts`.

    `scores` are further columns of numbers, for metrics `column:NAME`; of a table alone. Larger ratings are nearer. An
    empty text is kept, since dropping it would break the pair; a missing text or rating is refused.
    """
    name = os.fspath(spec)
    if scores and has_builtin_columns(name):
        raise InputError(f"{name} has no column {scores[0]!r}; columns of scores are read from tables alone")
    if name.startswith(PREFIX):
        return sample_pairs(name, n=limit, seed=seed)
    found = (
        load_published_pairs(name)
        if has_builtin_columns(name)
        else _make_pairs(load_table(name), left, right, rating, scores)
    )
    return found if limit is None else found.draw(limit, seed)


def split_column(name: str, column: str | None = None) -> tuple[str, str | None]:
    """Return the path and the column to read: that of `PATH:COLUMN`, else `column`, which is for tables only.

    A file whose name holds the colon wins.

    >>> split_column("answers.csv:reply"), split_column("answers.csv")
    (('answers.csv', 'reply'), ('answers.csv', None))
    """
    is_split = name.startswith(HUB_PREFIX) and not is_hub_file(name)
    if not os.path.exists(name) and not is_split:
        heads = [name[:place] for place, character in enumerate(name) if character == ":"]
        found = [head for head in heads if os.path.exists(head)]
        found = found or [head for head in heads if get_format(head).holds == "columns"]
        if found:
            return found[0], name[len(found[0]) + 1 :]
    if column is None or is_split or os.path.isdir(name) or get_format(name).holds == "columns":
        return name, column
    return name, None


def has_builtin_columns(spec: PathLike) -> bool:
    """Return whether this names a sample, or a published dataset and no file: their columns nobody need name."""
    name = os.fspath(spec)
    if name.startswith(PREFIX):
        return True
    return not os.path.isfile(name) and name.partition("/")[0] in {card.name for card in list_published()}


def is_path(spec: PathLike) -> bool:
    """Return whether this can only mean a file, not a name that was mistyped."""
    name = os.fspath(spec)
    return name == STDIN or os.path.exists(name) or bool(split_endings(name)[0]) or os.sep in name or is_glob(name)


def is_one_text(source: object) -> bool:
    """Return whether a string is a text itself, since it cannot mean a file or a data set.

    >>> is_one_text("a red cat"), is_one_text("cats.txt"), is_one_text("sample:banking"), is_one_text(["a cat"])
    (True, False, False, False)
    """
    if not isinstance(source, str) or os.path.exists(source) or split_endings(source)[0] or has_builtin_columns(source):
        return False
    return " " in source.strip() or not (is_path(source) or ":" in source or find_similar_files(source))


def get_source_name(source: Source, otherwise: str) -> str:
    """Return what results call a source: its path or name, else a name for texts in memory.

    >>> get_source_name("sample:travel", "a"), get_source_name(["one text", "another"], "a")
    ('sample:travel', 'a')
    """
    return str(source) if isinstance(source, str | os.PathLike) else otherwise


def describe_accepted(*, embeddings: bool = False) -> str:
    """Return what may be given as a source, for help texts."""
    *some, last = list_endings(embeddings=embeddings)
    files = ", ".join(some).replace(".txt", ".txt (one text per line)")
    packed = ", ".join(f"`{ending}`" for ending in PACKINGS)
    return (
        f"A {files} or {last} file (or one packed as {packed}), FILE:COLUMN, a folder of .txt files, a saved dataset, "
        f"`-` for standard input, `{PREFIX}NAME`, or the name of a dataset."
    )


def _make_corpus(source: Source, column: str | None, limit: int | None, seed: int) -> Corpus:
    """Return the corpus of embeddings, of texts in memory, or of another corpus."""

    def draw(size: int) -> list[int] | None:
        return None if limit is None else draw_rows(size, limit, f"{get_source_name(source, 'texts')}:{seed}")

    if isinstance(source, Corpus):
        rows = draw(len(source))
        return source if rows is None else source.take(rows)
    if isinstance(source, str | os.PathLike | np.ndarray):
        vectors = source if isinstance(source, np.ndarray) else read_embeddings(source)
        rows = draw(len(vectors))
        return Corpus.of(vectors if rows is None else vectors[rows], source_rows=rows)
    texts = get_cells(source, column)
    kept = find_filled_rows(texts, "the texts") or list(range(len(texts)))
    rows = draw(len(kept))
    if rows is not None:
        kept = [kept[row] for row in rows]
    return Corpus.of([texts[row] for row in kept], source_rows=kept)


def check_comparable(corpus: Corpus, role: str) -> None:
    """Refuse a corpus without two different texts that are not blank."""
    size, unit = len(corpus), "text" if corpus.pool.has_texts else "vector"
    if size > 1 and corpus.pool.has_texts and not any(corpus.pool.texts[row].strip() for row in map(int, corpus.index)):
        raise InputError(f"the {role} holds only empty texts")
    if size < 2:
        raise InputError(f"the {role} has {size} {unit}{'' if size == 1 else 's'}; at least 2 are needed")
    if len(np.unique(corpus.keys)) == 1:
        raise InputError(f"the {role} is one {unit} {size} times over; at least 2 different ones are needed")


def _make_pairs(table: TextTable, left: str, right: str, rating: str | None, scores: Sequence[str]) -> TextPairs:
    if {left, right} == {"left", "right"} and not {left, right} <= set(table.columns):
        known, advice = format_column_names(table.columns), "name its columns of texts by `left` and `right`"
        raise ArgumentError(f"{table.name} has no columns left and right: {advice}; it has {known}")
    grade = None if rating is None else tuple(table.get_numbers(rating))
    columns = {name: tuple(column) for name, column in table.get_scores(scores).items()}
    return TextPairs(tuple(table.get_filled(left)), tuple(table.get_filled(right)), table.name, grade, scores=columns)
