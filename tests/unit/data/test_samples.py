"""Built-in samples, and samples of real text, whose tests are skipped where the data is not on this machine."""

import hashlib
import itertools
from pathlib import Path

import pytest

from textgauge.core.errors import InputError
from textgauge.data.samples import DOMAINS, list_samples, packaged, sample, sample_pairs
from textgauge.encode.resources import is_available


def needs(*names):
    missing = [name for name in names if not is_available(name)]
    if missing:
        pytest.skip(f"not on this machine: {', '.join(missing)}")


domains = pytest.mark.parametrize("domain", DOMAINS)


@domains
def test_a_longer_draw_begins_alike_and_another_seed_draws_others(domain):
    assert sample(domain, n=300) == sample(f"sample:{domain}", n=300, seed=0)
    assert sample(domain, n=300).texts == sample(domain, n=500).texts[:300]
    draws = [set(sample(domain, n=1_000, seed=seed).texts) for seed in range(3)]
    assert not any(one & other for one, other in itertools.combinations(draws, 2))


def test_texts_do_not_change_between_versions():
    # Pinned on purpose: stored results name a sample and its seed, nothing else.
    texts = [text for domain in DOMAINS for text in sample(domain).texts]
    for pairs in (sample_pairs(card.name) for card in list_samples("pairs") if not card.needs):
        texts += [*pairs.left, *pairs.right]
    assert hashlib.sha256("\n".join(texts).encode()).hexdigest() == SHA256


SHA256 = "45df51dcdc0143888ea5fafca654c5fe454db3f0453b6950868dafbbf31b9124"


@pytest.mark.parametrize(("n", "word"), [(0, "at least 1"), (4_001, "4,000")])
def test_asking_for_too_many_or_too_few(n, word):
    with pytest.raises(InputError, match=word):
        sample("banking", n=n)


@pytest.mark.parametrize("card", [card for card in list_samples() if card.needs], ids=lambda card: card.name)
def test_size_and_determinism(card):
    needs(*card.needs)
    draw = sample if card.kind == "texts" else sample_pairs
    whole = draw(card.name)
    assert len(whole) == card.size
    assert draw(card.name, n=50, seed=3) == draw(card.name, n=50, seed=3)
    assert draw(card.name, n=50, seed=3) != draw(card.name, n=50, seed=4)


def test_verses_are_distinct_and_labelled_by_book():
    needs("bible-web")
    corpus = sample("bible-web")
    assert len(set(corpus.texts)) == len(corpus)
    assert len(set(corpus.labels)) == 66
    assert corpus.labels[0] == "Genesis"
    assert corpus.labels[-1] == "Revelation"
    assert not any("[" in text or "`" in text for text in corpus.texts)
    with pytest.raises(InputError, match="distinct"):
        sample("bible-web", n=40_000)


def test_versions_are_aligned():
    needs("bible-kjv", "bible-ylt")
    pairs = sample_pairs("bible-kjv-ylt", n=2000)
    where = {
        version: {text: number for number, text in packaged.read_verses(version).items()} for version in ("kjv", "ylt")
    }
    for left, right in zip(pairs.left, pairs.right, strict=True):
        assert where["kjv"][left] == where["ylt"][right]
        assert packaged.normalize(left) != packaged.normalize(right)


def test_grades_are_what_they_say():
    needs("bible-web", "bible-kjv")
    pairs = sample_pairs("bible-graded", n=2000)
    web, kjv = ({text: number for number, text in packaged.read_verses(version).items()} for version in ("web", "kjv"))
    assert [pairs.grade.count(grade) for grade in (0, 1, 2, 3)] == [500] * 4
    for left, right, grade in zip(pairs.left, pairs.right, pairs.grade, strict=True):
        assert packaged.get_grade(web[left], kjv[right]) == grade


def test_a_data_module_is_cut_at_its_offsets():
    text = "In the [first] day` x"
    source = f'bible = Bible("""{text}""",\n{{1001001: 0, 1001002: 15}},\n{{1001001: 14, 1001002: 21}},\n{{}})'
    assert packaged.parse_verses(source, Path("x.py")) == {1001001: "In the first", 1001002: "day' x"}
