"""Make and read pair_ngrams.json: n-gram metrics of the pairs in pairs.py, by the libraries people trust.

Run where rouge-score, nltk and sacrebleu are installed: python -m tests.golden.pair_ngrams
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.golden.pairs import LEFT, PAIRS, REFERENCES, RIGHT, SCRIPTS

PLACE = Path(__file__).with_name("pair_ngrams.json")
BOTH = PAIRS + SCRIPTS
CANDIDATES, SEVERAL = ([item[side] for item in REFERENCES] for side in (0, 1))
SUMMARIES = [
    ("rain fell\nthe river rose\nnobody was hurt", "the river rose as rain fell\nno one was hurt"),
    ("one line alone", "one line\nalone"),
    ("the cat saw the dog\nthe dog saw the cat", "the dog and the cat saw the cat\nthe cat"),
    ("a b c d e\n\nf g", "e d c b a\ng f\n"),
]

BLEU = {
    "bleu": {"effective_order": True},
    "bleu(smoothing=floor)": {"effective_order": True, "smooth_method": "floor"},
    "bleu(smoothing=add-k)": {"effective_order": True, "smooth_method": "add-k"},
    "bleu(smoothing=none)": {"effective_order": True, "smooth_method": "none"},
    "bleu(effective=false)": {},
    "bleu(order=2,lowercase=true)": {"effective_order": True, "max_ngram_order": 2, "lowercase": True},
    "bleu@whitespace": {"effective_order": True, "tokenize": "none"},
    "bleu@intl": {"effective_order": True, "tokenize": "intl"},
    "bleu@zh": {"effective_order": True, "tokenize": "zh"},
    "bleu@char": {"effective_order": True, "tokenize": "char"},
}
CHRF = {
    "chrf": {},
    "chrf(word_order=2)": {"word_order": 2},
    "chrf(smoothing=epsilon)": {"eps_smoothing": True},
    "chrf(order=3,beta=1)": {"char_order": 3, "beta": 1},
    "chrf(lowercase=true,whitespace=true)": {"lowercase": True, "whitespace": True},
}
TER = {
    "ter": {},
    "ter(normalized=true)": {"normalized": True},
    "ter(normalized=true,no_punct=true,asian_support=true)": {
        "normalized": True,
        "no_punct": True,
        "asian_support": True,
    },
    "ter(case_sensitive=true)": {"case_sensitive": True},
}


def sacrebleu_numbers():
    """Scores of pairs, of items with several references, and of both sets, in per cent."""
    from sacrebleu import metrics

    found = {}
    columns = [[texts[i] if i < len(texts) else None for texts in SEVERAL] for i in range(max(map(len, SEVERAL)))]
    for kind, variants in ((metrics.BLEU, BLEU), (metrics.CHRF, CHRF), (metrics.TER, TER)):
        for name, options in variants.items():
            metric = kind(**options)
            found[name] = {
                "pairs": [metric.sentence_score(left, [right]).score for left, right in BOTH],
                "several": [metric.sentence_score(left, rights).score for left, rights in REFERENCES],
                "set": metric.corpus_score(LEFT, [RIGHT]).score,
                "set_several": metric.corpus_score(CANDIDATES, columns).score,
            }
    return found


def rouge_numbers():
    """Precision, recall and F1 of pairs, of items with several references, and of summaries."""
    from rouge_score.rouge_scorer import RougeScorer

    found = {}
    for stem in (False, True):
        scorer = RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=stem)
        for name in scorer.rouge_types:
            found[f"{name}(stem=true)" if stem else name] = {
                "pairs": [scorer.score(right, left)[name] for left, right in BOTH],
                "several": [scorer.score_multi(rights, left)[name] for left, rights in REFERENCES],
                "summaries": [scorer.score(right, left)[name] for left, right in SUMMARIES],
            }
    return found


def nltk_numbers():
    """GLEU and NIST of tokens between white space; null where nltk divides by zero."""
    from nltk.translate.gleu_score import corpus_gleu, sentence_gleu
    from nltk.translate.nist_score import sentence_nist

    def nist(references, candidate):
        try:
            return sentence_nist(references, candidate)
        except ZeroDivisionError:
            return None

    words = [(left.split(), [right.split()]) for left, right in BOTH]
    several = [(left.split(), [right.split() for right in rights]) for left, rights in REFERENCES]
    return {
        "gleu@whitespace": {
            "pairs": [sentence_gleu(rights, left) for left, rights in words],
            "several": [sentence_gleu(rights, left) for left, rights in several],
            "set": corpus_gleu([rights for _, rights in words], [left for left, _ in words]),
            "set_several": corpus_gleu([rights for _, rights in several], [left for left, _ in several]),
        },
        "nist(normalise=false)@whitespace": {
            "pairs": [nist(rights, left) for left, rights in words],
            "several": [nist(rights, left) for left, rights in several],
        },
    }


def numbers(name):
    """The stored numbers of one metric."""
    found: dict[str, Any] = json.loads(PLACE.read_text())[name]
    return found


if __name__ == "__main__":
    made_with = {package: version(package) for package in ("sacrebleu", "rouge-score", "nltk")}
    everything = {"made_with": made_with, **sacrebleu_numbers(), **rouge_numbers(), **nltk_numbers()}
    PLACE.write_text(json.dumps(everything, indent=1) + "\n")
