import gzip

import pytest

from textgauge.core.errors import ResourceError
from textgauge.data.cache import clean_cache
from textgauge.encode import wordnet
from textgauge.encode.wordnet import SynonymTable, load_thesaurus, read_wordnet

# A small WordNet with the line ends of Windows; places in the files are any numbers.
FILES = {
    "data.noun": [
        "  1 a licence",
        "00000010 03 n 03 car 0 automobile 0 motor_car 0 000 | four wheels",
        "00000020 03 n 01 mouse 0 000 | a small animal",
        "00000030 03 n 02 XX 0 twenty 0 000 | a number",
        "00000040 03 n 01 Paris 0 000 | a city",
        "00000050 03 n 02 axis 0 line 0 000 | straight",
    ],
    "index.noun": [
        "  1 a licence",
        "automobile n 1 0 1 1 00000010  ",
        "axis n 1 1 @ 1 0 00000050  ",
        "car n 1 2 @ ~ 1 1 00000010  ",
        "line n 1 1 @ 1 0 00000050  ",
        "motor_car n 1 1 @ 1 1 00000010  ",
        "mouse n 1 1 @ 1 0 00000020  ",
        "paris n 1 1 @ 1 0 00000040  ",
        "twenty n 1 1 @ 1 0 00000030  ",
        "xx n 1 1 @ 1 0 00000030  ",
    ],
    "noun.exc": ["mice mouse", "axes axis", "cars nothing"],
    "data.verb": ["00000010 03 v 02 buy 0 purchase 0 000 | get for money"],
    "index.verb": ["buy v 1 1 @ 1 1 00000010  ", "purchase v 1 1 @ 1 1 00000010  "],
    "verb.exc": ["bought buy"],
    "data.adj": ["00000010 03 s 02 big(p) 0 large 0 000 | of size", "00000020 03 a 01 fine 0 000 | thin"],
    "index.adj": ["big a 1 1 & 1 1 00000010  ", "fine a 1 1 & 1 1 00000020  ", "large a 1 1 & 1 1 00000010  "],
    "adj.exc": ["bigger big"],
    "data.adv": ["00000010 03 r 01 well 0 000 | "],
    "index.adv": ["well r 1 0 1 1 00000010  "],
    "adv.exc": ["best well"],
}


def are_synonyms(table, first, second):
    return first == second or not table.get_groups_of(first).isdisjoint(table.get_groups_with(second))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "mine" / "wordnet"
    place.mkdir(parents=True)
    for name, lines in FILES.items():
        (place / name).write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    return place


@pytest.fixture
def own(folder, tmp_path, monkeypatch):
    """The small WordNet in place of the resource, with an empty cache."""
    monkeypatch.setattr(wordnet, "locate", lambda _: folder)
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path / "cache"))
    wordnet._load_or_make_table.cache_clear()
    yield folder
    wordnet._load_or_make_table.cache_clear()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("car", "automobile", True),
        ("car", "motor_car", False),
        ("motor_car", "car", True),
        ("mice", "mouse", True),
        ("mouse", "mice", False),
        ("automobiles", "car", True),
        ("cars", "automobile", False),  # the list of irregular forms has the last word
        ("axes", "line", True),
        ("xx", "twenty", True),
        ("twenty", "xx", False),  # the group spells it in capitals
        ("paris", "paris", True),
        ("buying", "purchase", True),
        ("bought", "purchase", True),
        ("purchased", "buy", True),
        ("larger", "big", True),
        ("finest", "fine", True),
        ("bigger", "large", True),
        ("best", "well", True),
        ("", "car", False),
        ("s", "car", False),
        ("नमस्ते", "car", False),
    ],
)
def test_synonyms_of_the_small_wordnet(folder, first, second, expected):
    assert are_synonyms(read_wordnet(folder), first, second) is expected


def test_the_table_is_made_once_and_loaded_afterwards(own, monkeypatch):
    made = load_thesaurus()
    assert load_thesaurus() is made
    wordnet._load_or_make_table.cache_clear()
    monkeypatch.setattr(wordnet, "read_wordnet", lambda folder: pytest.fail("the files were read again"))
    loaded = load_thesaurus()
    assert loaded is not made
    assert vars(loaded) == vars(made)


@pytest.mark.parametrize(
    "damage", [b"", b"\x1f\x8b cut off", b"{}", gzip.compress(b"[]", mtime=0), gzip.compress(b"{}", mtime=0)]
)
def test_a_damaged_table_is_made_again(own, tmp_path, damage):
    load_thesaurus()
    (kept,) = (tmp_path / "cache" / "synonyms").iterdir()
    whole = kept.stat().st_size
    kept.write_bytes(damage)
    wordnet._load_or_make_table.cache_clear()
    assert are_synonyms(load_thesaurus(), "car", "automobile")
    assert kept.stat().st_size == whole
    clean_cache("models")
    assert not kept.exists()


@pytest.mark.parametrize("name", ["index.noun", "data.verb"])
def test_files_of_another_kind_are_named(folder, name):
    (folder / name).write_text("this is not it\n")
    with pytest.raises(ResourceError, match=name):
        read_wordnet(folder)


def test_without_wordnet_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path))
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    monkeypatch.delenv("TEXTGAUGE_RESOURCES", raising=False)
    with pytest.raises(ResourceError, match=r"textgauge resources fetch wordnet.*meteor\(stages=stem\)") as caught:
        load_thesaurus()
    assert "\n" not in str(caught.value)


# Made with nltk 3.10.4 on WordNet 3.0: lower-case names without "_" of all synsets of the word.
NLTK = {
    "automobile": "auto automobile car machine motorcar",
    "mice": "mouse shiner",
    "geese": "bozo cuckoo fathead goof goofball goose jackass twat zany",
    "taxes": "assess task tax taxation taxis",
    "oxen": "cattle cows kine ox oxen",
    "happily": "blithely gayly happily jubilantly merrily mirthfully",
    "quickly": "apace chop-chop cursorily promptly quick quickly rapidly speedily",
    "twenty": "twenty xx",
    "monday": "",
    "axes": "ax axe axis bloc",
    "ice_cream": "icecream",
}


@pytest.mark.parametrize("word", NLTK)
def test_synonyms_of_wordnet_are_those_of_nltk(word, need):
    need("wordnet")
    table = load_thesaurus()
    candidates = {other for names in NLTK.values() for other in names.split()} | {"dog", "monday", "mice"}
    found = {other for other in candidates if are_synonyms(table, word, other)}
    assert found - {word} == set(NLTK[word].split()) - {word}


GROUPS = {"n car": [0], "n auto": [0], "n mouse": [1], "N mice": [1], "v drive": [2], "v motor": [2, 3], "n xx": [4]}
SMALL = SynonymTable(
    GROUPS | {"n twenty": [4]}, [["car", "auto"], ["mouse"], ["drive", "motor"], ["motor"], ["twenty"]]
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("car", ("auto",)),
        ("Auto", ("car",)),
        ("motor", ("drive",)),
        ("twenty", ()),
        ("cars", ("auto", "car")),  # inflected words lead to the words of their base form
        ("mice", ("mouse",)),
        ("driving", ("drive", "motor")),
        ("xx", ("twenty",)),  # a spelling that the group does not have
        ("blorp", ()),
        ("", ()),
    ],
)
def test_words_of_the_same_group_are_synonyms(word, expected):
    assert SMALL.get_synonyms(word) == expected
