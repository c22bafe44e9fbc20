"""Built-in samples."""

import hashlib
import itertools

import pytest

from textgauge.core.errors import InputError
from textgauge.data.samples import DOMAINS, list_samples, sample, sample_pairs

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
    for pairs in (sample_pairs(card.name) for card in list_samples("pairs")):
        texts += [*pairs.left, *pairs.right]
    assert hashlib.sha256("\n".join(texts).encode()).hexdigest() == SHA256


SHA256 = "45df51dcdc0143888ea5fafca654c5fe454db3f0453b6950868dafbbf31b9124"


@pytest.mark.parametrize(("n", "word"), [(0, "at least 1"), (4_001, "4,000")])
def test_asking_for_too_many_or_too_few(n, word):
    with pytest.raises(InputError, match=word):
        sample("banking", n=n)
