"""The language of a text by its script and its commonest words: rough, instant, without a model.

A text in Latin script belongs to the language that has most of its words among two dozen very common ones; where two
have as many, or none has two, the language is not known. Scripts of one large language stand for that language, the
others for themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

UNKNOWN = ""
_FEWEST = 2  # words that tell: one alone is in many languages
_COMMON = {
    "English": "the a of and to in is that it for was with as on are this be you my i not have can what how do at from",
    "German": "der die und das ist nicht ein eine zu den mit von auf für im dem ich sie es auch wir wie kann bei",
    "French": "le la les de des et est un une pour que dans qui pas sur au je vous nous avec il elle ce mon",
    "Spanish": "el la los las de y que en un una es por con para no se del al lo mi como me pero su está",
    "Italian": "il lo gli di e che è un una per non con del della sono mi ho come da le si nel anche questo",
    "Portuguese": "o os as de e que um uma em para não com do da se por mais como meu minha você eu foi está",
    "Dutch": "de het een en van is dat niet op te voor met zijn ik je er aan maar ook wij hoe kan deze mijn",
    "Polish": "i w na nie się z do jest to że jak o co ale po tak dla od czy mnie mój za jestem już",
    "Swedish": "och att det som en är på inte för med av den till jag har om ett var kan hur du mig vi så",
    "Danish": "og at det er en af til på ikke for med der den jeg har som et du kan hvordan vi mig fra så",
    "Turkish": "bir ve bu için de da ne çok ben mi var ile gibi daha ama olarak sen nasıl benim değil olan her o",
    "Czech": "a se na je že v to s z do jak ale pro jsem co by tak ne si mi jsou od za můj",
    "Romanian": "și de la în a nu este un o pe cu că mai din care să pentru am eu ce sunt meu cum fi",
    "Hungarian": "a az és nem hogy egy is van de meg mi csak ez be én már ki volt mint vagy hogyan lehet nekem ha",
    "Finnish": "ja on ei se että hän oli mutta ovat kun niin minä mitä olen jos voi myös joka tämä minun miten sitä",
    "Vietnamese": "và của là có không cho được trong với một các này tôi để người đã những khi làm như nào bạn thế",
    "Indonesian": "dan yang di ini itu untuk dengan tidak dari saya ke pada adalah bisa apa akan ada bagaimana kami",
}
_BY_SCRIPT = {
    "CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean", "GREEK": "Greek",
    "HEBREW": "Hebrew", "THAI": "Thai", "GEORGIAN": "Georgian", "ARMENIAN": "Armenian", "TAMIL": "Tamil",
}  # fmt: skip


def language_of(words: Iterable[str], script: str) -> str:
    """The language of a text of these lower-case words, most of whose letters are of this script; empty if not known.

    >>> language_of("der hund und die katze".split(), "LATIN"), language_of([], "CYRILLIC")
    ('German', 'Cyrillic script')
    """
    if script != "LATIN":
        return _BY_SCRIPT.get(script, f"{script.capitalize()} script" if script else UNKNOWN)
    counts = Counter(language for word in words for language in _languages().get(word, ()))
    (first, most), (_, next_most) = [*counts.most_common(2), (UNKNOWN, 0), (UNKNOWN, 0)][:2]
    return first if most >= _FEWEST and most > next_most else UNKNOWN


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages that have each word."""
    found: dict[str, tuple[str, ...]] = {}
    for language, words in _COMMON.items():
        for word in words.split():
            found[word] = (*found.get(word, ()), language)
    return found
