"""ARPA files: n-gram models as text, as SRILM, KenLM and others write them; `arpa:PATH` scores with one.

    \\data\\            ngram 1=…  ngram 2=…
    \\1-grams:         log10 probability, words, log10 back-off (may be left out: 1)
    \\end\\

Words are the pieces between white space, case kept: texts to score must be split as the model's training texts were.
A model without <unk> gives an unknown word the probability of its rarest word.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from textgauge.core.arrays import Floats, Ints
from textgauge.core.errors import InputError
from textgauge.core.limits import open_stored
from textgauge.encode.language_models.ngrams import SPECIAL, NgramLevel, NgramModel, Ngrams, first_level, next_level
from textgauge.encode.resource_sources import file_sha256
from textgauge.encode.tokenizers import tokenizer

LN10 = float(np.log(10.0))
NEVER = -99.0  # log10 of a probability of 0, as the format has it
LONGEST_ORDER = 20


def arpa_model(path: str) -> NgramModel:
    """Give the language model of an ARPA file."""
    file = Path(path).expanduser()
    ngrams = read_arpa(file)
    signature = f"arpa:{file.name}(sha256={file_sha256(file)[:16]},tokenizer=whitespace)"
    return NgramModel(f"arpa:{path}", signature, ngrams, tokenizer("whitespace"))


def read_arpa(path: Path) -> Ngrams:
    """Read and check a table; InputError says what is wrong with it, and where."""
    try:
        with open_stored(path) as stream:
            return _Reader(path.name, iter(stream)).table()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def write_arpa(ngrams: Ngrams, path: Path) -> None:
    """Write a table; 17 digits, so that it reads back to the same numbers but for their last bits."""
    grams = np.arange(len(ngrams.words))[:, None]
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
        stream.write("\\data\\\n")
        stream.writelines(f"ngram {n}={len(level.keys)}\n" for n, level in enumerate(ngrams.levels, start=1))
        for n, level in enumerate(ngrams.levels, start=1):
            if n > 1:
                prefix, word = np.divmod(level.keys, len(ngrams.words))
                grams = np.column_stack([grams[prefix], word])
            stream.write(f"\n\\{n}-grams:\n")
            stream.writelines(_lines(ngrams, level, grams, last=n == len(ngrams.levels)))
        stream.write("\n\\end\\\n")


def _lines(ngrams: Ngrams, level: NgramLevel, grams: Ints, *, last: bool) -> Iterator[str]:
    probability = np.maximum(level.log_probability / LN10, NEVER).tolist()
    backoff = (level.log_backoff / LN10).tolist()
    for row, gram in enumerate(grams.tolist()):
        words = " ".join([ngrams.words[word] for word in gram])
        yield f"{probability[row]!r}\t{words}\n" if last else f"{probability[row]!r}\t{words}\t{backoff[row]!r}\n"


class _Reader:
    """Reads an ARPA file line by line; holds what it has read and where it is."""

    def __init__(self, name: str, lines: Iterator[bytes]) -> None:
        self.name = name
        self.lines = lines
        self.line = 0
        self.numbers: dict[bytes, int] = {word.encode(): number for number, word in enumerate(SPECIAL)}
        self.levels: list[NgramLevel] = []

    def table(self) -> Ngrams:
        sizes = self._sizes()
        for order, size in enumerate(sizes, start=1):
            grams, probability, backoff = self._section(order, size)
            try:
                if order == 1:
                    level = first_level(len(self.numbers), grams[:, 0], probability, backoff)
                else:
                    level = next_level(self.levels, grams, probability, backoff)
            except ValueError as error:
                raise self._wrong(str(error)) from error
            self.levels.append(level)
        self._expect(b"\\end\\")
        try:
            words = tuple(word.decode() for word in self.numbers)
        except UnicodeDecodeError as error:
            raise InputError(f"{self.name} is not written in UTF-8") from error
        return Ngrams(words, tuple(self.levels))

    def _wrong(self, problem: str) -> InputError:
        return InputError(f"{self.name}, line {self.line}: {problem}")

    def _next(self) -> bytes:
        """The next line that is not empty."""
        for line in self.lines:
            self.line += 1
            if line.strip():
                return line.strip()
        raise self._wrong("the file ends before \\end\\")

    def _expect(self, mark: bytes) -> None:
        found = self._next()
        if found != mark:
            raise self._wrong(f"expected {mark.decode()}, not {found[:40].decode(errors='replace')!r}")

    def _sizes(self) -> list[int]:
        self._expect(b"\\data\\")
        sizes: list[int] = []
        while (line := self._next()) != b"\\1-grams:":
            order, equals, size = line.removeprefix(b"ngram ").partition(b"=")
            if not equals or order.strip() != str(len(sizes) + 1).encode() or not size.strip().isdigit():
                raise self._wrong(f"expected 'ngram {len(sizes) + 1}=NUMBER' or \\1-grams:")
            sizes.append(int(size))
        if not 1 <= len(sizes) <= LONGEST_ORDER:
            raise self._wrong(f"the model has {len(sizes)} orders, not 1 to {LONGEST_ORDER}")
        return sizes

    def _section(self, order: int, size: int) -> tuple[Ints, Floats, Floats]:
        if order > 1:
            self._expect(b"\\%d-grams:" % order)
        words: list[int] = []
        probability: list[float] = []
        backoff: list[float] = []
        for _ in range(size):
            fields = self._next().split()
            if not order + 1 <= len(fields) <= order + 2:
                raise self._wrong(f"expected a probability, {order} words and perhaps a back-off")
            words += [self._number(word, order) for word in fields[1 : order + 1]]
            probability.append(self._log(fields[0]))
            backoff.append(self._log(fields[-1]) if len(fields) > order + 1 else 0.0)
        if max(probability, default=0.0) > 0:
            raise self._wrong(f"the {order}-grams above hold a probability over 1")
        logs = np.array(probability) * LN10, np.array(backoff) * LN10
        return np.array(words, dtype=np.int64).reshape(size, order), *logs

    def _number(self, word: bytes, order: int) -> int:
        if order == 1:
            return self.numbers.setdefault(word, len(self.numbers))
        if word not in self.numbers:
            raise self._wrong(f"{word.decode(errors='replace')!r} is not among the 1-grams")
        return self.numbers[word]

    def _log(self, field: bytes) -> float:
        try:
            value = float(field)
        except ValueError:
            value = float("nan")
        if not value < 1000:  # nor NaN; −inf is 0
            raise self._wrong(f"{field[:40].decode(errors='replace')!r} is no logarithm of a probability")
        return value
