"""Grammar and plausibility of all texts that need them, by the backends that were named."""

from __future__ import annotations

from collections.abc import Sequence

from textgauge.data import Corpus
from textgauge.describing.rows import Row, Step, measured, sampled
from textgauge.describing.sets import Sets

YARDSTICK = 5_000  # texts of train that are enough for a mean: its standard error is a seventieth of their deviation


def grammar_row(name: str, sets: Sets, on_step: Step) -> Row:
    """Grammatical errors and words of generated and test texts, and of a sample of train."""
    from textgauge.encode.grammar import get_grammar_checker

    checker = get_grammar_checker(name)
    return measured(
        _input_identity(sets, sampled(sets.train, YARDSTICK)),
        lambda texts: (checker.errors(texts), checker.lengths(texts)),
        backend=checker.signature,
        doing="grammar",
        on_step=on_step,
    )


def surprise_row(name: str, sets: Sets, representative: Sequence[str] | None, on_step: Step) -> Row:
    """−ln P and tokens of generated and test texts, and of a sample of train unless the model was made from it."""
    from textgauge.encode.language_models import get_language_model

    on_step("plausibility: language model")
    told = made_from_train(name, representative)
    known = [*sets.train.texts, *sets.validation] if told else representative
    model = get_language_model(name, representative=known)
    corpora = _input_identity(sets, None if told else sampled(sets.train, YARDSTICK))
    return measured(corpora, model.surprise, backend=model.signature, doing="plausibility", on_step=on_step)


def made_from_train(name: str, representative: Sequence[str] | None) -> bool:
    """Whether the language model is one that is made from texts, and no other texts were given for it."""
    return name.startswith("kneser-ney") and representative is None


def _input_identity(sets: Sets, train: Corpus | None) -> list[Corpus]:
    return [*sets.generated.values(), *(corpus for corpus in (sets.test, train) if corpus is not None)]
