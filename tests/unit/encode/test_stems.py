from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.encode.stems import porter

# Made with nltk 3.10.4: " ".join(PorterStemmer().stem(word) for word in WORDS.split())
WORDS = """
caresses flies dies mules denied died agreed owned humbled sized meeting stating siezing itemization sensational
traditional reference colonizer plotted conflated troubled hopping tanned falling hissing fizzed failing filing happy
sky skies news innings outing dying lying tying canning howe proceed exceed succeed relational conditional rational
valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli vietnamization predication operator
feudalism decisiveness hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative formalize
electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic adjustable defensible irritant
replacement adjustment dependent adoption homologou communism activate angulariti homologous effective bowdlerize
probate rate cease controll roll geology theology logy by cry byed tied cried toying enjoy yes eyes fulli hopefulli
generally really ally are use used using as is The İstanbul café naïvely 3.5% x-rays don't
"""
STEMS = """
caress fli die mule deni die agre own humbl size meet state siez item sensat
tradit refer colon plot conflat troubl hop tan fall hiss fizz fail file happi
sky sky news inning outing die lie tie canning howe proceed exceed succeed relat condit ration
valenc hesit digit conform radic differ vile analog vietnam predic oper
feudal decis hope callous formal sensit sensibl triplic form formal
electr electr hope good reviv allow infer airlin gyroscop adjust defens irrit
replac adjust depend adopt homolog commun activ angular homolog effect bowdler
probat rate ceas control roll geolog theolog logi by cri by tie cri toy enjoy ye eye fulli hope
gener realli alli are use use use as is the i̇stanbul café naïv 3.5% x-ray don't
"""


@pytest.mark.parametrize(("word", "stem"), list(zip(WORDS.split(), STEMS.split(), strict=True)))
def test_stems_are_those_of_nltk(word: str, stem: str) -> None:
    assert porter(word) == stem


@pytest.mark.parametrize("word", ["", "a", "你好", "नमस्ते", "\ud800", "😀"])
def test_what_is_no_english_word_stays(word: str) -> None:
    assert porter(word) == word


@given(st.text(alphabet="aeiouylstdngbzr", max_size=12), st.sampled_from(["", "ed", "ing", "ational", "ies", "e", "y"]))
def test_a_stem_is_lower_case_and_hardly_longer_than_the_word(start: str, end: str) -> None:
    stem = porter((start + end).upper())
    assert stem == porter(start + end) == stem.lower()
    assert len(stem) <= len(start + end) + 1


@given(st.text(max_size=10))
def test_any_text_has_a_stem(word: str) -> None:
    assert isinstance(porter(word), str)
