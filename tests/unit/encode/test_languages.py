"""The language of sentences that were written for this test, one or two in each."""

import pytest

from textgauge.encode.languages import language_of
from textgauge.encode.tokenizers import words_of

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


@pytest.mark.parametrize("language", SENTENCES)
def test_sentences_are_of_their_language(language):
    assert language_of(words_of(SENTENCES[language]), "LATIN") == language


@pytest.mark.parametrize(
    ("script", "language"), [("CJK", "Chinese"), ("HANGUL", "Korean"), ("ARABIC", "Arabic script"), ("", "")]
)
def test_other_scripts_tell_by_themselves(script, language):
    assert language_of(["…"], script) == language


def test_what_nobody_can_tell_is_not_known():
    assert language_of([], "LATIN") == ""
    assert language_of(["zzz", "qqq"], "LATIN") == ""
