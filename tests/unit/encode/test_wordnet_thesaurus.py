from __future__ import annotations

import numpy as np

from textgauge.encode.wordnet import SynonymTable, Thesaurus


def table(rows: dict[str, list[tuple[int, bool]]]) -> SynonymTable:
    """Entries with their groups, and whether the group holds the entry itself."""
    lengths = [len(groups) for groups in rows.values()]
    pairs = [pair for groups in rows.values() for pair in groups]
    return SynonymTable(
        np.frombuffer("\n".join(rows).encode(), dtype=np.uint8),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        np.array([group for group, _ in pairs], dtype=np.int32),
        np.array([named for _, named in pairs], dtype=np.bool_),
    )


SMALL = Thesaurus(
    table(
        {
            "n car": [(0, True)],
            "n auto": [(0, True)],
            "n mouse": [(1, True)],
            "N mice": [(1, False)],
            "v drive": [(2, True)],
            "v motor": [(2, True), (3, True)],
            "n xx": [(4, False)],
            "n twenty": [(4, True)],
        }
    )
)


def test_words_of_the_same_group_are_synonyms() -> None:
    assert SMALL.synonyms_of("car") == ("auto",)
    assert SMALL.synonyms_of("Auto") == ("car",)
    assert SMALL.synonyms_of("motor") == ("drive",)
    assert SMALL.synonyms_of("twenty") == ()


def test_inflected_words_lead_to_the_words_of_their_base_form() -> None:
    assert SMALL.synonyms_of("cars") == ("auto", "car")
    assert SMALL.synonyms_of("mice") == ("mouse",)
    assert SMALL.synonyms_of("driving") == ("drive", "motor")


def test_spellings_that_a_group_does_not_have_are_not_given() -> None:
    assert SMALL.synonyms_of("xx") == ("twenty",)


def test_unknown_words_have_none() -> None:
    assert SMALL.synonyms_of("blorp") == ()
    assert SMALL.synonyms_of("") == ()
