"""The first cards of a page: what is best and what is worrying, with links to the numbers and the texts."""

import json

from textgauge.report.page import page, read_result, read_texts

DESCRIBED = [
    {
        "corpus": "generated",
        "property": "near_copies",
        "value": 0.55,
        "low": 0.48,
        "high": 0.62,
        "test": 0.115,
        "worse_than": "test",
    },
]
COMPARED = [
    {"metric": "jsd@words", "value": 0.25, "p_value": 0.01, "n_reference": 30, "n_candidate": 30, "reason": None},
]


def test_near_copies_are_the_first_card_and_lead_to_their_texts(tmp_path):
    for name, rows in (("describe", DESCRIBED), ("compare", COMPARED)):
        saved = {"schema": 1, "command": name, "answer": "Different: 1 of 1 metric.", "rows": rows}
        (tmp_path / f"{name}.json").write_text(json.dumps(saved), encoding="utf-8")
    texts = [{"text": "lock my card", "nearest_train": "lock my card", "syntactic": 1.0}]
    (tmp_path / "texts.json").write_text(json.dumps({"schema": 1, "rows": texts}), encoding="utf-8")
    results = [read_result(tmp_path / f"{name}.json") for name in ("compare", "describe")]
    made = page((), results, read_texts(tmp_path / "texts.json"))
    first, second = made.split('<article class="answer ')[1:]
    assert first.startswith("concern")
    assert "55 % near copies" in first
    assert 'href="#texts-of-near-5f-copies"' in first
    assert 'id="texts-of-near-5f-copies"' in made
    assert second.startswith("plain")
    assert '<p class="shown">Different</p>' in second
