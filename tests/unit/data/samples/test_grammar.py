"""The built-in grammars: counts, determinism, distinctness, labels, language."""

from __future__ import annotations

import itertools
import re

import pytest

from textgauge.core.errors import InputError, UnknownName
from textgauge.data.samples import grammar, list_samples, sample, sample_pairs
from textgauge.data.samples.grammar import parse

domains = pytest.mark.parametrize("domain", grammar.DOMAINS)


@domains
def test_enough_distinct_texts_with_labels(domain):
    corpus = sample(domain)
    assert len({grammar.plain(text) for text in corpus.texts}) == len(corpus) >= 3000
    intents = grammar.load(domain).intents
    assert set(corpus.labels) == set(intents)
    assert len(intents) >= 10
    assert min(map(corpus.labels.count, intents)) > len(corpus) / len(intents) / 2


@domains
def test_same_seed_same_texts_and_a_longer_draw_begins_alike(domain):
    assert sample(domain, n=300) == sample(f"sample:{domain}", n=300, seed=0)
    assert sample(domain, n=300).texts == sample(domain, n=500).texts[:300]
    shared = set(sample(domain, n=300).texts) & set(sample(domain, n=300, seed=1).texts)
    assert len(shared) < 100


def test_texts_do_not_change_between_versions():
    # Pinned on purpose: stored results name a sample and its seed, nothing else.
    assert sample("banking", n=2, seed=7).texts == BANKING_SEED_7


BANKING_SEED_7 = ("See my total spending for March.", "Could you update the phone number of my business account?")


@domains
def test_texts_read_like_texts(domain):
    for text in sample(domain).texts:
        assert re.search(r"[<>{}\[\]|!]|  |\s[.,?]|\.\.", text) is None, text
        assert 2 <= len(text.split()) <= 30, text


@domains
def test_every_list_and_rule_is_used_and_known(domain):
    loaded = grammar.load(domain)
    wordings = repr(loaded.intents)
    assert set(re.findall(r"Slot\(values='(\w+)'", wordings)) == set(loaded.slots)
    assert set(re.findall(r"Rule\(name='(\w+)'", wordings)) == set(loaded.rules)
    assert all(len(meaning.wordings) > 1 for meanings in loaded.intents.values() for meaning in meanings)


@domains
def test_paraphrases_differ_in_wording_and_agree_in_slots(domain):
    pairs = sample_pairs(domain)
    assert len(set(zip(pairs.left, pairs.right, strict=True))) == len(pairs) >= 5000
    assert pairs.grade is None
    assert set(pairs.group) == set(grammar.load(domain).intents)
    for left, right in zip(pairs.left, pairs.right, strict=True):
        assert grammar.plain(left) != grammar.plain(right)
        assert numbers(left) == numbers(right), (left, right)


def numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d[\d,.]*\d|\d", text))


def test_domains_share_no_text():
    corpora = {domain: set(map(grammar.plain, sample(domain).texts)) for domain in grammar.DOMAINS}
    for one, other in itertools.combinations(corpora.values(), 2):
        assert not one & other


def test_graded_pairs():
    pairs = sample_pairs("graded", n=800)
    assert pairs == sample_pairs("sample:graded", n=800)
    assert [pairs.grade.count(grade) for grade in (0, 1, 2, 3)] == [200] * 4
    label = {text: (domain, intent) for domain in grammar.DOMAINS for text, intent in pool(domain)}
    for left, right, grade in zip(pairs.left, pairs.right, pairs.grade, strict=True):
        if left in label and right in label and grade < 3:
            same = [one == other for one, other in zip(label[left], label[right], strict=True)]
            assert same == {2: [True, True], 1: [True, False], 0: [False, False]}[grade]


def pool(domain: str):
    for seed in range(2, 6):
        corpus = sample(domain, n=400, seed=seed)
        yield from zip(corpus.texts, corpus.labels, strict=True)


def test_graded_pairs_share_fewer_words_from_grade_to_grade():
    pairs = sample_pairs("graded", n=2000)
    shared = {grade: [] for grade in (0, 1, 2, 3)}
    for left, right, grade in zip(pairs.left, pairs.right, pairs.grade, strict=True):
        one, other = set(grammar.plain(left).split()), set(grammar.plain(right).split())
        shared[grade].append(len(one & other) / len(one | other))
    means = [sum(shared[grade]) / len(shared[grade]) for grade in (0, 1, 2, 3)]
    assert means == sorted(means)
    assert means[3] > 2 * means[1]


def test_asking_for_too_many_or_too_few():
    wordings = (grammar.Wording(parse("(a|b|c)")), grammar.Wording(parse("d")))
    tiny = grammar.Grammar("tiny", {"only": (grammar.Meaning("only", wordings),)}, {}, {})
    assert len(grammar.take(4, grammar.texts(tiny, 0), "tiny")) == 4
    assert len(grammar.take(3, grammar.paraphrases(tiny, 0), "tiny")) == 3
    with pytest.raises(InputError, match="'tiny' has 4 distinct texts, not 5"):
        grammar.take(5, grammar.texts(tiny, 0), "tiny")
    with pytest.raises(InputError, match="at least 1"):
        sample("banking", n=0)


def test_unknown_sample_gets_the_nearest():
    with pytest.raises(UnknownName, match="banking"):
        sample("bankng")
    with pytest.raises(UnknownName, match="graded"):
        sample_pairs("sample:garded")


def test_cards_tell_the_size():
    offline = [card for card in list_samples() if not card.needs]
    assert len(offline) == 9
    for card in offline:
        draw = sample if card.kind == "texts" else sample_pairs
        assert len(draw(card.name)) == card.size
