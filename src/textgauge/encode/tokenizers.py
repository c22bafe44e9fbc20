"""Tokenizers: texts to whole numbers, flat, with offsets.

    words        Unicode words and signs, casefolded: see `split_folded_words`
    alphanumeric runs of letters and digits, lower case, signs left out: see `split_alphanumeric`
    whitespace   the pieces between white space, unchanged
    rouge_score  runs of a-z and 0-9 after lower-casing, as the rouge-score package has them
    rouge        the pieces between white space and full stops, case kept, as the package rouge splits
    13a          as mteval-v13a splits Western languages, case kept: words and signs, but ' and - stay within words,
                 full stops and commas within numbers; a dash after a digit is a token
    intl, zh     as sacrebleu has them: signs of all scripts split off; each Chinese character a token, else 13a
    char         code points without white space, as sacrebleu has them
    ja-mecab, ko-mecab, flores200   words of Japanese and Korean, pieces of 200 languages, as sacrebleu has them, where
                 it finds its packages: pip install 'sacrebleu[ja]', 'sacrebleu[ko]', sentencepiece
    characters   code points after NFC, white space included
    wordpiece    the word pieces of all-MiniLM-L6-v2, without special tokens, padding or truncation

An empty text has no tokens. A lone surrogate is one character, and U+FFFD for `wordpiece`, which drops it.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textgauge.core.errors import MissingExtra
from textgauge.core.registry import Registry
from textgauge.core.settings import split_into_blocks

_TEXTS_AT_ONCE = 4_096
_SURROGATES = re.compile("[\ud800-\udfff]")
_ASCII_RUN = re.compile("[a-z0-9]+")
_ASCII_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\s\w\x00-\x1f\x7f]|_")  # what the pattern of words is without marks
_ASCII_LOWER = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256))
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_INVISIBLE = "\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"


@dataclass(frozen=True)
class Tokens:
    """Token ids of n texts: text i has `ids[offsets[i]:offsets[i + 1]]`; `vocabulary[id]` is the token as a string.

    Ids belong to their vocabulary: those of `words` and `characters` are numbered by first appearance in one call.

    >>> tokens = get_tokenizer("words").encode(["Don't panic!", "", "panic"])
    >>> tokens.strings(0), tokens.offsets.tolist(), tokens.ids.tolist()
    (["don't", 'panic', '!'], [0, 3, 3, 4], [0, 1, 2, 1])
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: Sequence[str]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each text."""
        return np.diff(self.offsets)

    def strings(self, row: int) -> list[str]:
        """Give the tokens of one text as strings."""
        return [self.vocabulary[token] for token in self[row].tolist()]

    def take(self, rows: NDArray[np.integer] | slice) -> Tokens:
        """Give the tokens of a selection of the texts, in that order, with the same vocabulary."""
        if isinstance(rows, slice):  # of texts that follow each other
            offsets = self.offsets[rows.start : rows.stop + 1]
            return Tokens(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0], self.vocabulary)
        lengths = self.lengths[rows]
        offsets = compute_offsets(lengths)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Tokens(self.ids[places], offsets, self.vocabulary)

    def pad(self, missing: NDArray[np.int64]) -> Tokens:
        """Put `[CLS]` before and `[SEP]` after each text, and then as many `[PAD]` as it lacks.

        >>> get_tokenizer("words").encode(["a b", "c"]).pad(np.array([0, 1])).strings(1)
        ['[CLS]', 'c', '[SEP]', '[PAD]']
        """
        added = np.stack([np.ones_like(missing), np.ones_like(missing), missing], axis=1)
        places = np.repeat(np.stack([self.offsets[:-1], self.offsets[1:], self.offsets[1:]], axis=1), added.ravel())
        kinds = np.repeat(np.tile(len(self.vocabulary) + np.arange(3), len(self)), added.ravel())
        ids = np.insert(self.ids, places, kinds)
        return Tokens(ids, compute_offsets(self.lengths + missing + 2), (*self.vocabulary, "[CLS]", "[SEP]", "[PAD]"))


def join_tokens(parts: Sequence[Tokens]) -> Tokens:
    """Return the tokens of texts that follow each other, numbered by first appearance.

    >>> split = get_tokenizer("words").encode
    >>> join_tokens([split(["a b"]), split(["b c", "a"])]).ids.tolist()
    [0, 1, 1, 2, 0]
    """
    numbers: dict[str, int] = {}
    ids = [np.empty(0, dtype=np.int32)]
    for part in parts:
        used, place = find_used_ids(part.ids)
        names = [part.vocabulary[token] for token in used.tolist()]
        ids.append(np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int32)[place])
    lengths = np.concatenate([np.empty(0, dtype=np.int64), *(part.lengths for part in parts)])
    return Tokens(np.concatenate(ids), compute_offsets(lengths), tuple(numbers))


def find_used_ids(ids: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different ids in rising order, and the place of each id among them.

    >>> [found.tolist() for found in find_used_ids(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    used = np.flatnonzero(np.bincount(ids))
    rank = np.zeros(int(used[-1]) + 1 if len(used) else 0, dtype=np.int64)
    rank[used] = np.arange(len(used))
    return used, rank[ids]


def hold_letters(tokens: Sequence[str]) -> NDArray[np.bool_]:
    """Return which tokens hold a letter or a digit; the others are signs, not words.

    >>> hold_letters(["it's", "!", "42"]).tolist()
    [True, False, True]
    """
    return np.fromiter((any(map(str.isalnum, token)) for token in tokens), dtype=bool, count=len(tokens))


class Tokenizer(Protocol):
    """What a tokenizer has to offer."""

    def encode(self, texts: Sequence[str]) -> Tokens:
        """Turn texts into token ids."""


@dataclass(frozen=True)
class SplitTokenizer:
    """A tokenizer made of a function from a text to its tokens as strings.

    Where no token reaches across white space (`by_piece`), what stands between white space is split once for all texts
    of a call, which is several times faster: most pieces of a corpus come again. `prepare` changes each text before.
    """

    split: Callable[[str], Iterable[str]]
    by_piece: bool = False
    prepare: Callable[[str], str] = str

    def encode(self, texts: Sequence[str]) -> Tokens:
        """Split each text and number the distinct tokens by first appearance."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        ids = array("i")  # half the size of a list
        ends = [0]

        @cache
        def number(piece: str) -> list[int]:
            return [numbers[token] for token in self.split(piece)]

        for text in map(self.prepare, texts):
            if self.by_piece:
                ids.extend(chain.from_iterable(map(number, text.split())))
            else:
                ids.extend(map(numbers.__getitem__, self.split(text)))
            ends.append(len(ids))
        return Tokens(np.asarray(ids, dtype=np.int32), np.array(ends, dtype=np.int64), tuple(numbers))


class PieceTokenizer:
    """The word pieces of all-MiniLM-L6-v2, by the `tokenizers` library, from the resource `wordpiece`."""

    def encode(self, texts: Sequence[str]) -> Tokens:
        """Split texts into word pieces, without special tokens, padding or truncation."""
        return Tokens(*encode_ids(load_pieces(), texts), list_pieces(load_pieces()))


def encode_ids(library: Any, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the token ids of texts by the library `tokenizers`, flat and without special ones, and their offsets."""
    ids, lengths = array("i"), array("q")
    for some in split_into_blocks(len(texts), _TEXTS_AT_ONCE):
        batch = list(map(replace_surrogates, texts[some]))
        for encoding in library.encode_batch_fast(batch, add_special_tokens=False):
            ids.extend(encoding.ids)
            lengths.append(len(encoding.ids))
    return np.array(ids, dtype=np.int32), compute_offsets(lengths)


@cache
def list_pieces(library: Any) -> tuple[str, ...]:
    """Return the tokens that a tokenizer of the library `tokenizers` knows, by their ids."""
    numbers = library.get_vocab()
    return tuple(sorted(numbers, key=numbers.get))


def open_tokenizer(path: Path) -> Any:
    """Open a file of the library `tokenizers`, without padding and truncation."""
    from tokenizers import Tokenizer as Library

    library = Library.from_file(str(path))
    library.no_padding()
    library.no_truncation()
    return library


@cache
def load_pieces() -> Any:
    """Load the word-piece tokenizer of all-MiniLM-L6-v2."""
    from textgauge.encode.resources import locate

    return open_tokenizer(locate("wordpiece") / "tokenizer.json")


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 library accepts, by U+FFFD.

    >>> replace_surrogates("a\\ud800b") == "a\\ufffdb"
    True
    """
    return _SURROGATES.sub("\ufffd", text)


def split_folded_words(text: str) -> list[str]:
    """Split a text into casefolded Unicode words.

    A word is a run of letters, digits and their marks, with single apostrophes inside (’ counts as '). Each CJK
    ideograph, and each other visible sign or emoji (with its modifiers, joined emoji as one), is its own token.
    White space, control and invisible format characters separate. Scripts without spaces other than ideographs
    (kana, Thai) stay in runs. NFC first, so that composed and decomposed spellings agree.

    >>> split_folded_words("It’s नमस्ते 你好, 👍🏽!")
    ["it's", 'नमस्ते', '你', '好', ',', '👍🏽', '!']
    """
    return split_words(text.casefold())


def split_words(text: str) -> list[str]:
    """Split a text into words and signs as `split_folded_words` does, in their own case."""
    text = unicodedata.normalize("NFC", text).replace("’", "'")
    return _ASCII_WORD.findall(text) if text.isascii() else _compile_patterns()[0].findall(text)


def split_alphanumeric(text: str) -> list[str]:
    """Split a text into lower-case runs of letters, digits and their marks; each CJK ideograph is a token.

    On ASCII text these are the tokens of the rouge-score package, which knows no other letters.

    >>> split_alphanumeric("It's नमस्ते, 你好 -- 42!")
    ['it', 's', 'नमस्ते', '你', '好', '42']
    """
    if text.isascii():
        return _split_ascii_runs(text)
    return _compile_patterns()[1].findall(unicodedata.normalize("NFC", text.lower()))


def _split_ascii_runs(text: str) -> list[str]:
    return text.encode("ascii").translate(_ASCII_LOWER).decode("ascii").split()


def _split_rouge_score(text: str) -> list[str]:
    return _split_ascii_runs(text) if text.isascii() else _ASCII_RUN.findall(text.lower())


def get_characters(text: str) -> str:
    """Give the code points of a text after NFC."""
    return unicodedata.normalize("NFC", text)


@cache
def _compile_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of words and signs, and of runs of letters."""
    # Python's \w has no combining marks, without which Hindi or Arabic words fall apart; joiners belong inside words.
    codes = chain(range(0x300, 0x3400), range(0xA600, 0xAC00), range(0xFB00, 0x1F000), range(0xE0100, 0xE01F0))
    found = np.array([code for code in codes if unicodedata.category(chr(code))[0] == "M"])
    runs = np.split(found, np.flatnonzero(np.diff(found) > 1) + 1)  # ranges are compiled much faster than single signs
    marks = "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)
    letter = rf"[^\W_{_IDEOGRAPHS}]"
    run = rf"{letter}(?:{letter}|[{marks}\u200c\u200d])*"
    ideograph = rf"[{_IDEOGRAPHS}][{marks}]*"
    sign = rf"[^\s\w{_INVISIBLE}][{marks}\U0001f3fb-\U0001f3ff]*"
    flag = "[\U0001f1e6-\U0001f1ff]{2}"
    words = rf"{run}(?:'{run})*|{ideograph}|{flag}|_|{sign}(?:\u200d{sign})*"
    return re.compile(words), re.compile(rf"{run}|{ideograph}")


def compute_offsets(lengths: NDArray[np.integer | np.bool_] | Sequence[int]) -> NDArray[np.int64]:
    """Return where each of consecutive parts of these lengths begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


_OPTIONAL = {  # what sacrebleu needs for them: the module, and what to install
    "ja-mecab": ("MeCab", "'sacrebleu[ja]'"),
    "ko-mecab": ("mecab_ko", "'sacrebleu[ko]'"),
    "flores200": ("sentencepiece", "sentencepiece"),
}
LIBRARIES = dict.fromkeys(["intl", "zh", "char", *_OPTIONAL], "sacrebleu")
"""The packages that split texts, by the names of their tokenizers."""


def forget_texts(tokenizer: Any) -> Callable[[str], str]:
    """Return what a tokenizer of sacrebleu does; called itself, it would keep 65,536 texts, however long."""
    if inner := getattr(tokenizer, "_post_tokenizer", None):
        tokenizer._post_tokenizer = forget_texts(inner)
    call = type(tokenizer).__call__
    return partial(getattr(call, "__wrapped__", call), tokenizer)


@cache
def _load_sacrebleu(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import BLEU

    return forget_texts(BLEU(tokenize=name).tokenizer)


def _make_sacrebleu(name: str) -> SplitTokenizer:
    module, install = _OPTIONAL.get(name, ("sacrebleu", ""))
    if find_spec(module) is None:
        raise MissingExtra(f"the tokenizer {name} needs an optional package: pip install {install}")
    by_piece = name == "13a"  # its rules see no farther than white space, but for these two strings that it leaves out
    prepare = (lambda text: text.rstrip().replace("<skipped>", "").replace("-\n", "")) if by_piece else str.rstrip
    return SplitTokenizer(lambda text: _load_sacrebleu(name)(text).split(), by_piece, prepare)


TOKENIZERS: Registry[Callable[[], Tokenizer]] = Registry(
    "tokenizer",
    {
        "wordpiece": PieceTokenizer,
        "words": partial(SplitTokenizer, split_words, by_piece=True, prepare=str.casefold),
        "alphanumeric": partial(SplitTokenizer, split_alphanumeric),
        "whitespace": partial(SplitTokenizer, str.split),
        "rouge_score": partial(SplitTokenizer, _split_rouge_score),
        "rouge": partial(SplitTokenizer, lambda text: text.replace(".", " ").split()),
        "characters": partial(SplitTokenizer, get_characters),
        **{name: partial(_make_sacrebleu, name) for name in ("13a", "intl", "zh", "char", *_OPTIONAL)},
    },
)


def get_tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of that name; nothing is loaded before it is used."""
    return TOKENIZERS[name]()


def register_tokenizer(name: str, factory: Callable[[], Tokenizer]) -> None:
    """Make a tokenizer known under a new name; a name in use is refused."""
    TOKENIZERS.register(factory, name)


def list_tokenizers() -> list[str]:
    """List the names of all tokenizers that can be used here, the optional ones last."""
    optional = [name for name, (module, _) in _OPTIONAL.items() if find_spec(module) is not None]
    return [*(name for name in TOKENIZERS if name not in _OPTIONAL), *optional]
