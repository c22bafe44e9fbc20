"""Names parse, print and expand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textgauge import get_metric
from textgauge.core.errors import ParameterError, UnknownName
from textgauge.core.registry import Name, expand, parse, split_names
from textgauge.metrics import get_metrics

WORD = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
VALUE = st.from_regex(r"[a-z0-9.+-]{1,6}", fullmatch=True)


@settings(max_examples=30)
@given(
    st.builds(
        Name,
        name=WORD,
        part=st.none() | WORD,
        params=st.dictionaries(WORD, VALUE, max_size=3).map(lambda d: tuple(d.items())),
        on=st.none() | st.from_regex(r"[a-z][a-z0-9:/._-]{0,12}", fullmatch=True),
    )
)
def test_a_name_parses_back(name):
    assert parse(str(name)) == name


@pytest.mark.parametrize(
    "text", ["", "pr(", "pr(k)", "pr(k=)", "pr(=3)", "pr)", "3pr", "pr(k=1,k=2)", "pr@", "a b", "pr(k=1)x"]
)
def test_what_is_no_name_is_refused_in_one_line(text):
    with pytest.raises(UnknownName) as error:
        parse(text)
    assert "\n" not in str(error.value)


def test_grids_are_products_in_reading_order():
    assert expand("pr(k=1|2,ties=open)@a|b") == [
        "pr(k=1,ties=open)@a", "pr(k=1,ties=open)@b", "pr(k=2,ties=open)@a", "pr(k=2,ties=open)@b",
    ]  # fmt: skip
    with pytest.raises(UnknownName):
        expand("pr(k=1|)")


def test_commas_inside_brackets_do_not_split():
    assert split_names("a,b(x=1,y=2) , c@d,") == ["a", "b(x=1,y=2)", "c@d"]


def test_defaults_are_left_out_of_the_key_and_spelled_out_in_the_signature():
    metric = get_metric("pr(k=5,ties=closed)@minilm:euclidean")
    assert metric.key == "pr"
    assert get_metric("pr(ties=open,k=3)@cosine").key == "pr(k=3,ties=open)@cosine"
    assert "pr(k=5,ties=closed)@minilm:euclidean|v1" in get_metric("pr").signature


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("furd", "did you mean"),
        ("xyzzy", "known: ahd, .* more"),
        ("frechet", "use fid"),
        ("prr", "pr"),
        ("pr(kk=3)", "its parameters: k, ties"),
        ("pr(k=three)", "whole number"),
        ("pr(ties=half)", "closed, open"),
        ("pr.recal", "recall"),
        ("energy(root=maybe)", "true or false"),
        ("medoid(k=1)", "none"),
    ],
)
def test_wrong_names_say_what_would_be_right(name, hint):
    with pytest.raises((UnknownName, ParameterError), match=hint):
        get_metric(name)


def test_get_metrics_takes_lists_grids_and_objects_and_drops_repeats():
    keys = [metric.key for metric in get_metrics(["fid,pr(k=3|5)", "pr", get_metric("fid")])]
    assert keys == ["fid", "pr(k=3)", "pr"]


def test_a_grid_of_too_many_names_is_refused_before_they_are_made():
    choices = "|".join(map(str, range(400)))
    assert len(expand(f"pr(k={choices})")) == 400
    with pytest.raises(UnknownName, match="this grid of mauve stands for 64,000,000 names; the limit is 1,000"):
        expand(f"mauve(points={choices},restarts={choices},seeds={choices})")
