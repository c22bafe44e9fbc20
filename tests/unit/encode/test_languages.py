"""Languages of sentences that were written for this test; stems, and parts of speech."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.encode import languages
from textgauge.encode.languages import find_nouns_of_text, split_words_and_clitics, stem_porter, tag, tell_language
from textgauge.encode.tokenizers import split_folded_words

SENTENCES = {
    "English": "What do I need to open a savings account?",
    "German": "Wie kann ich mit der Karte bezahlen, und ist das nicht teuer?",
    "French": "Je voudrais savoir comment payer avec ma carte dans un magasin.",
    "Spanish": "¿Cómo puedo pagar con mi tarjeta en una tienda de la ciudad?",
    "Italian": "Non sono riuscito a pagare con la carta, che cosa è successo?",
    "Portuguese": "Eu não consegui pagar com o meu cartão em uma loja.",
    "Dutch": "Ik kan niet met mijn kaart betalen, hoe komt dat?",
    "Polish": "Nie mogę zapłacić kartą, co to jest i jak to zmienić?",
    "Swedish": "Jag kan inte betala med kortet, hur är det möjligt?",
    "Turkish": "Bu kart ile ödeme için ne var ve nasıl olur?",
    "Finnish": "Minä en voi maksaa kortilla, miten se on mahdollista?",
    "Vietnamese": "Tôi không thanh toán được với thẻ này, làm thế nào?",
    "Indonesian": "Saya tidak bisa membayar dengan kartu ini, bagaimana?",
}


@pytest.mark.parametrize(
    ("text", "script", "language"),
    [
        *((sentence, "LATIN", language) for language, sentence in SENTENCES.items()),
        *(("…", script, told) for script, told in {"CJK": "Chinese", "ARABIC": "Arabic script", "": ""}.items()),
        ("", "LATIN", ""),
        ("zzz qqq", "LATIN", ""),
    ],
)
def test_languages_are_told_by_words_and_scripts(text, script, language):
    assert tell_language(split_folded_words(text), script) == language


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


def test_stems_are_those_of_nltk():
    assert [stem_porter(word) for word in WORDS.split()] == STEMS.split()
    others = ["", "a", "你好", "नमस्ते", "\ud800", "😀"]  # no English words, which stay
    assert [stem_porter(word) for word in others] == others


@given(st.text(max_size=10) | st.from_regex("[aeiouylstdngbzr]{0,12}(ed|ing|ational|ies|e|y)", fullmatch=True))
def test_any_text_has_a_lower_case_stem(word):
    stem = stem_porter(word)
    assert stem == stem.lower()
    assert len(stem) <= len(word.lower()) + 1


@pytest.fixture
def model(need):
    need("pos-en")


def test_words_have_the_tags_of_their_place(model):
    words = ["They", "can", "fish", "in", "the", "old", "lake", "of", "Paris", "."]
    assert tag([words]) == [["PRP", "MD", "VB", "IN", "DT", "JJ", "NN", "IN", "NNP", "."]]


def test_a_sentence_is_tagged_alike_alone_and_among_others(model):
    many = [["The", "cat", "slept"], [], ["Dogs", "bark"]]
    assert tag(many) == [tag([words])[0] for words in many]


def test_nouns_are_common_and_proper_ones(model):
    assert list(find_nouns_of_text("The dogs of Paris barked. Cats slept.")) == ["dogs", "Paris", "Cats"]


def test_odd_words_are_no_trouble(model):
    assert [len(marks) for marks in tag([["\ud800", "\x00", "", "😀", "a" * 10_000], ["你好"]])] == [5, 1]


def test_a_long_text_is_cut_into_pieces(monkeypatch):
    lengths = []
    monkeypatch.setattr(languages, "tag", lambda pieces: lengths.append(len(pieces[0])) or [["NN"] * len(pieces[0])])
    assert len(list(find_nouns_of_text("one two. three! " + "word " * 450))) == 455
    assert lengths == [3, 2, 200, 200, 50]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We've seen John's car; it isn't his.", "We 've seen John 's car ; it is n't his ."),
        ("the 'quoted' rock'n'roll", "the ' quoted ' rock'n'roll"),
        ("", ""),
        ("今天 go", "今 天 go"),
    ],
)
def test_texts_are_split_as_the_model_expects(text, words):
    assert split_words_and_clitics(text) == words.split()
