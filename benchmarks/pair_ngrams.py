"""N-gram metrics of pairs against rouge-score, sacrebleu and nltk, tokens included: CPU time on one thread.

Run in an environment that has textgauge, rouge-score and nltk: python -m benchmarks.pair_ngrams [pairs]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, race, timed
from textgauge.data import Corpus, Pairs, is_here
from textgauge.metrics import get_metric
from textgauge_papers.datasets import yamshchikov14

Scores = NDArray[np.float64]
Texts = list[str]
ROUGE = ("rouge1", "rouge2", "rougeL")


def rows(n: int = 13_225) -> list[Row]:
    """Rows for n pairs of the style-transfer study, or of made-up sentences where it is not there."""
    left, right = pairs(n)
    plain, stemmed = [f"{name}@rouge_score" for name in ROUGE], [f"{name}(stem=true)@rouge_score" for name in ROUGE]
    return [
        _row("ROUGE-1/2/L, rouge-score", left, right, plain, lambda: _rouge(left, right, stem=False)),
        _row("ROUGE-1/2/L stemmed, rouge-score", left, right, stemmed, lambda: _rouge(left, right, stem=True)),
        _row(
            "BLEU cold, sacrebleu", left, right, ["bleu"], lambda: _sacrebleu("BLEU", left, right, effective_order=True)
        ),
        _row("chrF, sacrebleu", left, right, ["chrf"], lambda: _sacrebleu("CHRF", left, right)),
        _row("GLEU, nltk", left, right, ["gleu"], lambda: _gleu(left, right)),
        _row("TER, sacrebleu", left[::10], right[::10], ["ter"], lambda: _sacrebleu("TER", left[::10], right[::10])),
        _matrix(left[:500], right[:500]),
    ]


def pairs(n: int) -> tuple[Texts, Texts]:
    """Pairs of the study as they come, or sentences of made-up words of which half are common."""
    if is_here("yamshchikov14"):
        items = list(yamshchikov14())[:n]
        return [item.left for item in items], [str(item.right) for item in items]
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("aeioulnrst"), 2 + k % 7)) for k in range(3_000)])
    drawn = words[np.minimum(rng.zipf(1.3, (n, 2, 12)) - 1, len(words) - 1)]
    drawn[:, 1, ::2] = drawn[:, 0, ::2]
    return [" ".join(row) for row in drawn[:, 0]], [" ".join(row) for row in drawn[:, 1]]


def _row(name: str, left: Texts, right: Texts, metrics: list[str], peer: Callable[[], Scores]) -> Row:
    def ours() -> Scores:
        texts = Pairs(left, right)
        return np.stack([get_metric(metric).measure(texts).values for metric in metrics])

    row, mine, yours = race(name, len(left), ours, peer, 3)
    return row | {"max_abs_diff": float(np.abs(mine - yours).max())}


def _rouge(left: Texts, right: Texts, *, stem: bool) -> Scores:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(ROUGE), use_stemmer=stem)
    found = [scorer.score(b, a) for a, b in zip(left, right, strict=True)]
    return np.array([[score[name].fmeasure for score in found] for name in ROUGE])


def _sacrebleu(kind: str, left: Texts, right: Texts, **options: bool) -> Scores:
    from sacrebleu import metrics
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    Tokenizer13a.__call__.cache_clear()
    TokenizerRegexp.__call__.cache_clear()
    metric = getattr(metrics, kind)(**options)
    return np.array([[metric.sentence_score(a, [b]).score for a, b in zip(left, right, strict=True)]])


def _gleu(left: Texts, right: Texts) -> Scores:
    from nltk.translate.gleu_score import sentence_gleu
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    split = Tokenizer13a.__call__.__wrapped__
    sides = [[split(Tokenizer13a(), text.rstrip()).split() for text in side] for side in (left, right)]
    return np.array([[sentence_gleu([b], a) for a, b in zip(*sides, strict=True)]])


def _matrix(left: Texts, right: Texts) -> Row:
    """All pairs of chrF by products, against the same metric pair by pair."""
    from textgauge.metrics.pair_metric import PairMetric

    joint = Corpus.of([*left, *right])
    sides = joint.take(range(len(left))), joint.take(range(len(left), len(joint)))
    metric = get_metric("chrf")
    ours, mine = timed(lambda: metric.matrix(*sides))
    theirs, yours = timed(lambda: PairMetric.matrix(metric, *sides))
    label = "chrF matrix, own pairs"
    difference = float(np.abs(mine - yours).max())
    row = {"name": label, "n": len(left), "ours_ms": ours, "peer_ms": theirs, "ratio": theirs / ours}
    return row | {"max_abs_diff": difference}


def main() -> None:
    """Print the rows."""
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 13_225):
        print(row, flush=True)


if __name__ == "__main__":
    main()
