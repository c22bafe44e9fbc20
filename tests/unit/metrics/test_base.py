"""What a signature names: every library that can change the number."""

import pickle

import pytest

from textgauge import get_metric, list_metrics
from textgauge.core.errors import ParameterError
from textgauge.metrics.base import DEFAULT_SEED, INFINITY, POSITIVE, DefaultSeed, Range, list_versions


@pytest.mark.parametrize(
    ("name", "libraries"),
    [
        ("c2st", ["scikit-learn"]),
        ("classifier", ["scikit-learn"]),
        ("ter", ["sacrebleu"]),
        ("bleu@intl", ["sacrebleu"]),
        ("levenshtein", ["rapidfuzz"]),
        ("rougeL", ["rapidfuzz"]),
        ("fid", []),
    ],
)
def test_the_signature_names_the_libraries(name, libraries):
    pieces = {piece.partition("=")[0] for piece in get_metric(name).signature.split("|")}
    assert pieces >= {*libraries, "textgauge", "numpy", "scipy"}


def test_word_movers_name_the_solver_and_the_stop_words():
    assert get_metric("wmd").libraries == ("scikit-learn", "POT")


def test_a_package_that_is_not_installed_has_no_version():
    assert list_versions("no-such-package") == ("no-such-package=none",)


def test_a_seed_nobody_chose_survives_copies():
    metric = pickle.loads(pickle.dumps(get_metric("mauve(points=9)")))
    assert isinstance(metric.seed, DefaultSeed)
    assert metric.with_default_seed(4).seed == 4
    assert (DEFAULT_SEED, hash(DEFAULT_SEED), f"{DEFAULT_SEED}") == (0, hash(0), "0")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kl(alpha=0)", "kl: alpha=0.0 must be above 0"),
        ("kl(alpha=nan)", "kl: alpha=nan must be above 0"),
        ("sliced_wasserstein(p=inf)", "sliced_wasserstein: p=inf must be at least 1"),
        ("meteor(alpha=1.5)", "meteor: alpha=1.5 must be at least 0 and at most 1"),
        ("mauve(pca=0)", "mauve: pca=0.0 must be above 0 and at most 1"),
    ],
)
def test_a_parameter_out_of_its_range_is_refused(name, message):
    with pytest.raises(ParameterError) as error:
        get_metric(name)
    assert str(error.value) == message


# Work grows with these: without a limit, a slip of the hand would never end.
COUNTS = {"order", "word_order", "repeats", "degree", "restarts", "points", "seeds", "projections"}


@pytest.mark.parametrize("metric", [metric for metric in list_metrics() if metric.seeded or metric.ranges], ids=str)
def test_the_ends_of_every_range_are_kept(metric):
    for name, least, most in (*metric.ranges, *([Range("seed", 0)] if metric.seeded else [])):
        assert most < INFINITY or name not in COUNTS
        for value in (0 if least == POSITIVE else least - 1, *([most + 1] if most < INFINITY else [])):
            with pytest.raises(ParameterError, match=f"{name}={value} must be "):
                type(metric)(**{name: value})


@pytest.mark.parametrize("alpha", ["0.12345678", "1234567.5", "1e-07", "2.0"])
def test_a_name_has_all_digits_of_a_number(alpha):
    metric = get_metric(f"kl(alpha={alpha})")
    assert get_metric(metric.key) == metric == get_metric(metric.signature.partition("|")[0])


def test_a_whole_number_may_be_larger_than_any_float():
    assert get_metric(f"pr(k={10**400})").k == 10**400
