import subprocess
import sys

import numpy as np
import pytest

import textgauge
from textgauge.core.errors import InputError
from textgauge.measure.watching import compute_wealth

RNG = np.random.default_rng(5)
REFERENCE, SAME, FAR = RNG.normal(size=(400, 16)), RNG.normal(size=(300, 16)), RNG.normal(size=(200, 16)) + 0.7


def test_wealth_is_worth_nothing_more_on_average_whichever_side_a_text_is_on():
    gaps = RNG.normal(size=(8, 3))
    signs = np.array([[1 - 2 * (number >> place & 1) for place in range(8)] for number in range(256)])
    wealth = [compute_wealth(gaps * sign[:, None]) for sign in signs]
    np.testing.assert_allclose(np.mean(wealth, axis=0), 1.0)


def test_one_source_raises_no_alarm_and_another_does():
    quiet, loud = textgauge.watch(REFERENCE, SAME), textgauge.watch(REFERENCE, np.vstack([SAME[:100], FAR]))
    assert (quiet.details["outcome"], loud.details["outcome"]) == ("pass", "fail")
    assert quiet.answer.startswith("No alarm after 300 texts (wealth 0.")
    assert loud.answer.startswith(f"Alarm after {loud[-1]['texts']} texts: ")
    assert 100 < loud[-1]["texts"] < 200
    assert loud[-1]["wealth"] >= loud.details["alarm_at"] == 20.0


def test_texts_that_are_added_leave_the_bets_before_as_they_were():
    then = textgauge.watch(REFERENCE, SAME)[5]
    assert textgauge.watch(REFERENCE, SAME[: then["texts"]])[-1] == then


def test_a_reference_that_is_used_up_is_said():
    found = textgauge.watch(REFERENCE[:50], SAME)
    assert (found.details["outcome"], found.details["unread"], found[-1]["texts"]) == ("undecided", 250, 50)
    assert "the next 250 texts were not watched" in found.answer


def test_a_pair_of_groups_is_one_bet():
    centres = 3 * RNG.normal(size=(120, 16))
    texts = np.repeat(centres, 5, axis=0) + RNG.normal(size=(600, 16))
    labels = np.repeat(np.arange(60), 5).tolist()
    found = textgauge.watch(texts[:300], texts[300:], group=(labels, labels))
    assert (found.details["outcome"], found[0]["texts"], found[-1]["texts"]) == (
        "pass",
        5,
        295,
    )  # the last group may go on
    again = textgauge.watch(texts[:300], texts[300:], group=(labels, [*labels[:-5], *[0] * 5]))
    assert again[-1] == found[-1]  # rows that come later are no group of their own
    with pytest.raises(InputError, match="no complete group"):
        textgauge.watch(texts[:300], texts[300:305], group=(labels, [0] * 5))


def test_the_command(tmp_path):
    paths = [tmp_path / "reference.txt", tmp_path / "stream.txt"]
    for path, words in zip(paths, ("red cat dog", "big ship sea"), strict=True):
        path.write_text("\n".join(" ".join(RNG.choice(words.split(), 4)) for _ in range(60)))
    command = [sys.executable, "-m", "textgauge", "watch", *map(str, paths), "--embedder", "wordllama"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith("Alarm after ")
