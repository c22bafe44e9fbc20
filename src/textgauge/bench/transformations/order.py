"""Changes of order: sentences and words shuffled, clauses moved."""

from __future__ import annotations

import numpy as np

from textgauge.bench.transformations.base import randomness, some
from textgauge.bench.transformations.pieces import (
    CLOSERS,
    COMMON,
    ENDS,
    FRONTED,
    LEANING,
    TRAILING,
    Span,
    pattern,
    piece_spans,
    rewritten,
    sentence_spans,
)

_COMMA = rf",(?=\s++(?!(?:{'|'.join(sorted(LEANING))})\b))|[،，]"
_TRAILING = rf"(?<!\s)\s++(?={'|'.join(sorted(TRAILING))}\b)"
_ENCLOSED = frozenset('"“”„«»()[]{}「」『』（）')


def word_shuffle(text: str, seed: int, strength: float) -> str:
    """Shuffle a share of the tokens, at least two, among their places; white space stays where it is.

    Tokens are those of `pieces`. A text with two different tokens always changes. Source: USMB.
    """
    return _shuffled(text, piece_spans(text), strength, randomness("word_shuffle", text, seed))


def sentence_shuffle(text: str, seed: int, strength: float) -> str:
    """Shuffle a share of the sentences, at least two, among their places; white space stays where it is.

    Where there is one sentence, or all are the same, the two halves of its tokens change places, so that a text with
    two different tokens always changes. Source: USMB.

    >>> sentence_shuffle("It rained. We left.", 0, 1.0), sentence_shuffle("one two three four", 0, 1.0)
    ('We left. It rained.', 'three four one two')
    """
    spans = sentence_spans(text)
    changed = _shuffled(text, spans, strength, randomness("sentence_shuffle", text, seed))
    return changed if changed != text else _turned(text, piece_spans(text))


def word_order(text: str, seed: int, strength: float) -> str:
    """Move a clause in a share of the sentences that allow it, at least in one: a paraphrase by order alone.

    `Because X, Y.` and its like become `Y because X.`, and the other way round; the two sides of the comma nearest
    the middle change places in other sentences. Sentences with quotes or brackets, or without a comma and one of
    these words, stay as they are.

    >>> word_order("When it rains, the garden smiles. We stay because we like it.", 0, 1.0)
    'The garden smiles when it rains. Because we like it, we stay.'
    """
    moved = [(span, _moved(text[slice(*span)])) for span in sentence_spans(text)]
    movable = [(span, new) for span, new in moved if new != text[slice(*span)]]
    chosen = some(len(movable), strength, randomness("word_order", text, seed), least=1)
    return rewritten(text, (movable[place] for place in chosen.tolist()))


def _shuffled(text: str, spans: list[Span], share: float, rng: np.random.Generator) -> str:
    old = [text[start:end] for start, end in spans]
    places = some(len(old), share, rng, least=2)
    new = list(old)
    for place, origin in zip(places.tolist(), rng.permutation(places).tolist(), strict=True):
        new[place] = old[origin]
    if new == old:
        other = next((place for place, part in enumerate(old) if part != old[0]), 0)
        new[:1], new[other : other + 1] = old[other : other + 1], old[:1]
    return rewritten(text, zip(spans, new, strict=True))


def _turned(text: str, spans: list[Span]) -> str:
    old = [text[start:end] for start, end in spans]
    half = len(old) // 2
    turned = [*old[half:], *old[:half]]
    return rewritten(text, zip(spans, turned if turned != old else [*old[1:], *old[:1]], strict=True))


def _moved(sentence: str) -> str:
    if not _ENCLOSED.isdisjoint(sentence):
        return sentence
    body = sentence.rstrip(ENDS + CLOSERS)
    commas = [found.span() for found in pattern(_COMMA).finditer(body)]
    first = body.split(maxsplit=1)[:1]
    if commas and first[0].lower() in FRONTED:
        return _swapped(body, commas[0], "") + sentence[len(body) :]
    if commas:
        return _swapped(body, min(commas, key=lambda span: abs(2 * span[0] - len(body))), None) + sentence[len(body) :]
    trailing = pattern(_TRAILING).search(body)
    return _swapped(body, trailing.span(), ",") + sentence[len(body) :] if trailing else sentence


def _swapped(body: str, cut: Span, mark: str | None) -> str:
    """Exchange what stands before and after a cut, with another mark between them if one is given."""
    left, right = body[: cut[0]], body[cut[1] :]
    gap = right[: len(right) - len(right.lstrip())] or (" " if mark is not None else "")
    between = body[slice(*cut)] if mark is None else mark
    return _begun(right.strip()) + between + gap + _continued(left) if right.strip() else body


def _begun(clause: str) -> str:
    capital = clause[0].upper()
    return (capital if len(capital) == 1 else clause[0]) + clause[1:]


def _continued(clause: str) -> str:
    first = clause.split(maxsplit=1)[:1]
    known = first and first[0] != "I" and first[0].lower() in COMMON
    return clause[0].lower() + clause[1:] if known else clause
