"""What holds for every transformation."""

import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textgauge.bench.transformations import TRANSFORMATIONS
from textgauge.core.errors import InputError
from textgauge.encode import wordnet

ORDINARY = {
    "storm": "When the storm came, Mary Miller closed 12 windows. She didn't call John because the phone was dead. "
    "The car was big, and in 1999 London could not buy one.",
    "report": "Although sales were slow, the company hired 40 people. Anna Berg, its founder, met Karl in Vienna.\n\n"
    "They will buy a large car next week.",
    "tokenised": "it is n't raining in Paris , but Rome has 3 floods . we ca n't drive the car home , he said .",
}
SIGNS = "👩‍👩‍👧 🇩🇪 👍🏽 क्षि ß ı İ ﬁ 今 。 ก็ ؟ א"
WORDS = "is isn't not Because because Anna May 1999 १२ , . car ( ’"
ODD = ["\ud800", "\u0301", *SIGNS.split(), "\r\n", "\x1c", "\u0600", *WORDS.split(), " ", "  ", "\n\n"]
TEXTS = st.one_of(
    st.text(st.one_of(st.characters(), st.characters(categories=["Cs", "Mn", "Mc", "Cf"]))),
    st.lists(st.sampled_from(ODD)).map("".join),
    st.lists(st.sampled_from(ODD)).map(" ".join),
)
STRENGTHS = st.one_of(st.floats(0, 1), st.sampled_from([0.05, 0.1, 0.25, 0.5, 1.0]))
NAMES = sorted(TRANSFORMATIONS)

SMALL_WORDNET = {
    "noun": ["auto car", "phone telephone", "engine motor", "exploitation using"],
    "verb": ["employ engage hire", "drive motor"],
    "adj": ["big large"],
    "adv": ["home homeward"],
}


@pytest.fixture(autouse=True, scope="module")
def small_wordnet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("resources") / "wordnet"
    folder.mkdir()
    for part, groups in SMALL_WORDNET.items():
        data = [f"{place} 03 n {len(g.split()):02x} {' 0 '.join(g.split())} 0 000 | " for place, g in enumerate(groups)]
        index = [f"{word} n 1 0 1 1 {place}" for place, g in enumerate(groups) for word in g.split()]
        (folder / f"data.{part}").write_text("\n".join(data))
        (folder / f"index.{part}").write_text("\n".join(index))
        (folder / f"{part}.exc").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wordnet, "locate", lambda _: folder)
        patch.setenv("TEXTGAUGE_CACHE", str(folder.parent / "cache"))
        wordnet._load_or_make_table.cache_clear()
        yield
    wordnet._load_or_make_table.cache_clear()


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS, seed=st.integers(-(2**70), 2**70), strength=STRENGTHS)
def test_it_takes_every_text_and_is_pure(name: str, text: str, seed: int, strength: float) -> None:
    transformation = TRANSFORMATIONS[name]
    once = transformation(text, seed=seed, strength=strength)
    assert isinstance(once, str)
    random.seed(seed)
    assert transformation(text, seed=seed, strength=strength) == once


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS, seed=st.integers(0, 99))
def test_strength_zero_and_blank_texts_change_nothing(name: str, text: str, seed: int) -> None:
    assert TRANSFORMATIONS[name](text, seed=seed, strength=0) == text
    blank = "".join(character for character in text if character.isspace())
    assert TRANSFORMATIONS[name](blank, seed=seed) == blank


@pytest.mark.parametrize("strength", [None, 0.1, 1.0])
@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
@pytest.mark.parametrize("name", NAMES)
def test_ordinary_texts_change(name: str, text: str, strength: float | None) -> None:
    if name == "zeros" and strength == 0.1:
        pytest.skip("a tenth of the letter o of a short text may be none")
    assert all(TRANSFORMATIONS[name](text, seed=seed, strength=strength) != text for seed in range(20))


@pytest.mark.parametrize("strength", [-0.1, 1.5, float("nan"), float("inf")])
def test_a_strength_that_is_no_share_is_refused(strength: float) -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        TRANSFORMATIONS["capitals"]("text", strength=strength)


def test_nothing_depends_on_the_process() -> None:
    code = (
        "import sys; from textgauge.bench.transformations import TRANSFORMATIONS as T; text = sys.argv[1]\n"
        "print(*(ascii(T[n](text, seed=5)) for n in sorted(T) if n != 'synonyms'), sep='\\n')"
    )
    text = ORDINARY["storm"]
    here = [ascii(TRANSFORMATIONS[name](text, seed=5)) for name in NAMES if name != "synonyms"]
    environment = os.environ | {"PYTHONHASHSEED": "77", "PYTHONIOENCODING": "utf-8"}
    there = subprocess.run([sys.executable, "-c", code, text], env=environment, capture_output=True, check=True)
    assert there.stdout.decode().splitlines() == here


@pytest.mark.parametrize("name", NAMES)
def test_all_can_be_pickled(name: str) -> None:
    text = ORDINARY["storm"]
    assert pickle.loads(pickle.dumps(TRANSFORMATIONS[name]))(text, seed=2) == TRANSFORMATIONS[name](text, seed=2)


def test_synonyms_by_the_small_wordnet() -> None:
    change = TRANSFORMATIONS["synonyms"]
    found = {change("Home, drive the LARGE phone: phones, cars' hire-car.", seed=seed, strength=1) for seed in range(9)}
    assert found == {"Homeward, motor the BIG telephone: phones, cars' hire-car."}
    assert {change("hire", seed=seed) for seed in range(30)} == {"employ", "engage"}
    assert change("engine, motor, exploitation, using", strength=1) == "motor, motor, using, using"
    assert change("क्षमा car", strength=1) == "क्षमा car"  # three letters are too few
