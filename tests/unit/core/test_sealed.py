"""A seal is checked, and a damaged one is not taken for none."""

import json

import pytest

from textgauge.core.files import seal_json, unseal_json

CONTENT = {"value": 0.25, "rows": [{"metric": "energy", "p_value": 0.01}]}


def test_what_was_sealed_is_read_and_so_is_what_never_was():
    assert unseal_json(json.dumps(seal_json(CONTENT))) == CONTENT
    assert unseal_json(json.dumps(CONTENT)) == CONTENT


def test_no_change_of_one_character_is_believed():
    text = json.dumps(seal_json(CONTENT))
    for place, old in enumerate(text):
        for new in "0x":
            if new == old:
                continue
            try:
                found = unseal_json(text[:place] + new + text[place + 1 :])
            except ValueError:
                continue
            pytest.fail(f"believed {found}")
