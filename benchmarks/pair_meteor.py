"""METEOR against nltk: CPU time on one thread, WordNet loaded anew on both sides, then with WordNet in memory.

Run in an environment that has textgauge and nltk, with the data of yamshchikov14: python -m benchmarks.pair_meteor
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, race
from textgauge.data import load_pairs
from textgauge.encode import languages, wordnet
from textgauge.encode.resources import locate
from textgauge.metrics import get_metric

Values = NDArray[np.float64]
Texts = tuple[str, ...]


def rows(*, repeats: int = 3) -> list[Row]:
    """A fresh and a warm row on all pairs of yamshchikov14."""
    pairs = load_pairs("yamshchikov14")
    left, right = pairs.left, pairs.right
    wordnet.load_thesaurus()
    with tempfile.TemporaryDirectory() as folder:
        write_for_nltk(Path(folder))
        reader = nltk_reader(folder)
        fresh = _row(
            "meteor, fresh", len(left), lambda: _fresh(left, right), lambda: _nltk(folder, left, right), repeats
        )
        warm = _row(
            "meteor, warm", len(left), lambda: _ours(left, right), lambda: _scores(reader, left, right), repeats
        )
    return [fresh, warm]


def _row(name: str, n: int, ours: Callable[[], Values], peer: Callable[[], Values], repeats: int) -> Row:
    row, mine, yours = race(name, n, ours, peer, repeats)
    return row | {"max_abs_diff": float(np.abs(mine - yours).max())}


def _ours(left: Texts, right: Texts) -> Values:
    return get_metric("meteor(perfect=penalised)@whitespace")(left=left, right=right).values


def _fresh(left: Texts, right: Texts) -> Values:
    wordnet._load_or_make_table.cache_clear()
    languages.stem_porter.cache_clear()
    return _ours(left, right)


def write_for_nltk(folder: Path) -> None:
    """Write the files of WordNet as nltk takes them: without carriage returns, and with a list of file names."""
    for path in locate("wordnet").iterdir():
        (folder / path.name).write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    (folder / "lexnames").write_text("".join(f"{number:02d}\tname{number}\t1\n" for number in range(45)))


def nltk_reader(folder: str) -> Any:
    """WordNet as nltk reads it, without the table of other versions, which METEOR does not need."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):
        def map_wn(self, version: str = "wordnet") -> None:
            """No table."""

    nltk.data.path.append(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reader(folder, None)


def _nltk(folder: str, left: Texts, right: Texts) -> Values:
    return _scores(nltk_reader(folder), left, right)


def _scores(reader: Any, left: Texts, right: Texts) -> Values:
    from nltk.translate.meteor_score import single_meteor_score

    pairs = ((one.split(), two.split()) for one, two in zip(left, right, strict=True))
    return np.array([single_meteor_score(two, one, wordnet=reader) for one, two in pairs])


if __name__ == "__main__":
    for line in rows():
        print(line, flush=True)
