"""Paraphrase corpora by double lottery, and verdicts beside a plain computation."""

import math
from dataclasses import replace

import numpy as np
import pytest

from textgauge.bench import Distributionality, Observations, PairSources
from textgauge.bench.protocols.distributionality import compute_pseudo_values, draw_different_pairs, draw_double_lottery
from textgauge.core.errors import InputError
from textgauge.data import Corpus

# Prototypes that are the same for all metrics.
FIXED = {"distributional": "energy@cosine", "neighbours": "ahd@cosine"}
SMALL = Distributionality(n=8, k=4, repetitions=3, **FIXED)


def paraphrases(size, repeat=1):
    left = [f"left {row // repeat}" for row in range(size)]
    return PairSources("made", Corpus.of(left), Corpus.of([f"right {row}" for row in range(size)]))


def observed(protocol, value, samples=(0,)):
    """Observations of a metric whose distance is `value(i, j, repetition, sample)`."""
    i, j = np.triu_indices(protocol.k + 1, 1)
    rows = [
        (sample * protocol.repetitions + repetition, a, b, sample, repetition)
        for sample in samples
        for repetition in range(protocol.repetitions)
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
    batch, a, b, sample, repetition = np.array(rows).T
    values = np.array([value(*row) for row in zip(a, b, repetition, sample, strict=True)], dtype=np.float64)
    return Observations(values, batch, {"i": a, "j": b, "sample": sample, "repetition": repetition})


def noisy(seed, slope=1.0):
    rng = np.random.default_rng(seed)
    return lambda i, j, repetition, sample: slope * math.sqrt(j - i) + rng.normal(0, 0.3)


def plain_deviation(first, second, k):
    """The definition, point by point."""
    grid = [-8 + x * 16 / 3_000 for x in range(3_001)]
    total, step = 0.0, first.columns["j"] - first.columns["i"]
    scaled = [(o.value - np.mean(o.value)) / np.std(o.value) for o in (first, second)]
    for gap in range(1, k + 1):
        curves = [plain_density(values[step == gap], grid) for values in scaled]
        part = sum((f - g) ** 2 for f, g in zip(*curves, strict=True)) * 16 / 3_000
        total += part * np.mean(step == gap)
    return total


def plain_density(values, grid):
    n = len(values)
    width = np.std(values, ddof=1) * n**-0.2 if n > 1 else 0.0
    width = 0.1 if width < 2 * 16 / 3_000 else width
    scale = n * width * math.sqrt(2 * math.pi)
    return [sum(math.exp(-(((x - v) / width) ** 2) / 2) for v in values) / scale for x in grid]


def test_corpora_by_double_lottery():
    masks = draw_double_lottery(50, 15, np.random.default_rng(0))
    assert masks.sum(axis=1).tolist() == [50] * 16
    assert masks[:, 50:].sum(axis=1).tolist() == [round(50 * i / 15) for i in range(16)]
    assert masks[0, :50].all()
    assert masks[15, 50:].all()
    drawn = np.array([draw_double_lottery(4, 2, np.random.default_rng(seed))[1] for seed in range(2_000)])
    assert np.abs(drawn.mean(axis=0) - 0.5).max() < 4 * 0.5 / math.sqrt(2_000)
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 4])[0, 1]) < 0.1


def test_trials_over_the_sampled_texts_alone():
    protocol = Distributionality(n=8, k=4, repetitions=2, samples=3)
    batches = list(protocol.trials(paraphrases(100), seed=1))
    assert [batch.number for batch in batches] == list(range(6))
    for batch in batches:
        assert len(batch) == 10
        assert batch.joint.pool.size == 3 * 2 * 8
        texts = batch.joint.texts
        assert len(set(texts)) == 16
        assert [text.replace("left", "right") for text in texts[:8]] == list(texts[8:])
        assert (batch.draws.left.sum(axis=1) == 8).all()
    first, again, other = batches[0], batches[1], batches[2]
    assert first.joint.texts == again.joint.texts != other.joint.texts
    assert (first.draws.left != again.draws.left).any()
    assert {name: column.tolist()[0] for name, column in other.columns.items()} == {
        "i": 0,
        "j": 1,
        "sample": 1,
        "repetition": 0,
    }


def test_more_samples_and_other_prototypes_leave_the_trials_as_they_are():
    sources = paraphrases(100)
    one = list(SMALL.trials(sources, seed=0))
    more = list(replace(SMALL, samples=2, distributional="mmd").trials(sources, seed=0))
    assert SMALL.key == replace(SMALL, samples=2, distributional="mmd").key
    for mine, theirs in zip(one, more[:3], strict=True):
        assert mine.joint.texts == theirs.joint.texts
        assert (mine.draws.right == theirs.draws.right).all()
    assert next(SMALL.trials(sources, seed=1)).joint.texts != one[0].joint.texts


def test_no_text_is_drawn_twice():
    same = Corpus.of(["same", "a", "b", "a", "c", "d"])
    other = Corpus.of(["same", "x", "y", "z", "a", "w"])
    sources = PairSources("made", same, other)
    for seed in range(20):
        rows = draw_different_pairs(sources, 3, np.random.default_rng(seed)).tolist()
        texts = [side.texts[row] for row in rows for side in (same, other)]
        assert len(set(texts)) == 6
    with pytest.raises(InputError, match="made has 3 pairs whose texts all differ, but n=4 are needed"):
        list(Distributionality(n=4, k=2).trials(sources, seed=0))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 3}, "at least 4 texts each, not 3"),
        ({"neighbours": "energy"}, "two different prototypes"),
        ({"n": 50}, "has 20 pairs whose texts all differ, but n=50"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        replace(SMALL, **given).check(paraphrases(40, repeat=2))


@pytest.mark.parametrize("seed", range(3))
def test_deviations_and_score_are_those_of_the_definition(seed):
    found = {
        "energy": observed(SMALL, noisy(seed)),
        "ahd": observed(SMALL, noisy(seed + 10, slope=-1.0)),
        "fid": observed(SMALL, noisy(seed + 20, slope=0.3)),
        "dc": observed(SMALL, lambda i, j, repetition, sample: float(j - i == 2) + 0.5 * (i == 0)),
    }
    judged = SMALL.judge_all(found)
    for metric in ("fid", "dc"):
        energy, ahd, score = judged[metric]
        plain = [plain_deviation(found[metric], found[name], SMALL.k) for name in ("energy", "ahd")]
        assert energy.value == pytest.approx(plain[0], abs=1e-10)
        assert ahd.value == pytest.approx(plain[1], abs=1e-10)
        assert score.value == pytest.approx((plain[1] - plain[0]) / (plain[1] + plain[0]), abs=1e-10)
        assert energy.low <= energy.value <= energy.high
    assert [verdict.value for verdict in judged["energy"]] == [0.0, judged["ahd"][0].value, 1.0]
    assert [verdict.value for verdict in judged["ahd"]] == [judged["ahd"][0].value, 0.0, -1.0]


def take(observed, here):
    columns = {name: column[here] for name, column in observed.columns.items()}
    return Observations(observed.value[here], observed.batch[here], columns)


def test_intervals_over_repetitions_are_those_of_the_jackknife():
    found = {name: observed(SMALL, noisy(seed)) for seed, name in enumerate(("energy", "ahd", "fid"))}
    verdict = SMALL.judge_all(found)["fid"][0]
    left = []
    for repetition in range(3):
        kept = {name: take(o, o.columns["repetition"] != repetition) for name, o in found.items()}
        left.append(plain_deviation(kept["fid"], kept["energy"], SMALL.k))
    error = math.sqrt(2 / 3 * sum((value - np.mean(left)) ** 2 for value in left))
    assert verdict.error == pytest.approx(error)
    assert verdict.std / math.sqrt(3) == pytest.approx(error)
    assert np.mean(verdict.values) == pytest.approx(verdict.value)
    assert verdict.high - verdict.value == pytest.approx(4.302653 * error, rel=1e-6)
    assert compute_pseudo_values(np.array([0.7])).tolist() == [0.7]


def test_several_samples_are_averaged_and_kept_apart():
    protocol = replace(SMALL, samples=3)
    found = {name: observed(protocol, noisy(seed), (0, 1, 2)) for seed, name in enumerate(("energy", "ahd", "fid"))}
    judged = protocol.judge_all(found)["fid"]
    single = [
        SMALL.judge_all({name: shifted(o.of("sample", sample)) for name, o in found.items()})["fid"]
        for sample in range(3)
    ]
    for at, verdict in enumerate(judged):
        assert verdict.values == pytest.approx([part[at].value for part in single])
        assert verdict.value == pytest.approx(np.mean(verdict.values))
        assert verdict.error == pytest.approx(math.sqrt(sum(part[at].error ** 2 for part in single)) / 3)


def shifted(observations):
    return replace(observations, columns={**observations.columns, "sample": np.zeros(len(observations.value))})


def test_undefined_infinite_equal_and_unfinished_distances():
    protocol = replace(SMALL, samples=2)
    good = observed(protocol, noisy(0), (0, 1))
    holes, endless = good.value.copy(), good.value.copy()
    holes[3], endless[-1] = np.nan, np.inf
    part = take(good, good.batch != 5)
    judged = protocol.judge_all(
        {
            "energy": good,
            "ahd": observed(protocol, noisy(1), (0, 1)),
            "fid": replace(good, value=holes),
            "dc": replace(good, value=endless),
            "pr": replace(good, value=np.full(len(good.value), 0.1 + 0.2)),
            "jsd": part,
        }
    )
    said = {metric: verdicts[2].reason for metric, verdicts in judged.items()}
    half = "1 of 2 repetitions left out: "
    assert said == {
        "energy": None,
        "ahd": None,
        "fid": half + "undefined in 1 of 30 trials",
        "dc": half + "a distance is infinite",
        "pr": "all distances are equal",
        "jsd": half + "not all repetitions are finished",
    }
    assert math.isnan(judged["pr"][2].value)
    assert judged["fid"][2].values[1] == 1.0


def test_one_repetition_has_no_interval_and_a_missing_prototype_is_named():
    once = replace(SMALL, repetitions=1)
    found = {name: observed(once, noisy(seed)) for seed, name in enumerate(("energy", "ahd", "fid"))}
    verdict = once.judge_all(found)["fid"][2]
    assert len(verdict.values) == 1
    assert math.isnan(verdict.low)
    del found["ahd"]
    verdict = once.judge_all(found)["fid"][2]
    assert math.isnan(verdict.value)
    assert "without the prototypes energy and ahd: add them to its metrics" in verdict.reason
    with pytest.raises(InputError, match="with its prototypes energy@cosine and ahd@cosine"):
        once.judge(found["fid"])


@pytest.mark.parametrize(
    ("metric", "beside"),
    [
        ("irpr", ("energy", "ahd")),
        ("irpr@angular", ("energy@angular", "ahd@angular")),
        ("hausdorff@wordllama:euclidean", ("energy@wordllama:euclidean", "ahd@wordllama:euclidean")),
        ("energy@euclidean", ("energy@euclidean", "ahd@euclidean")),
        ("irpr@levenshtein", ("energy@levenshtein", "ahd@levenshtein")),
        ("pr@levenshtein", ("energy@levenshtein", "ahd@levenshtein")),
        ("pr.recall@cosine", ("energy@euclidean", "ahd@euclidean")),
        ("dc", ("energy@euclidean", "ahd@euclidean")),
        ("fid@wordllama", ("energy@wordllama:euclidean", "ahd@wordllama:euclidean")),
        ("mauve", ("energy@euclidean", "ahd@euclidean")),
        ("chi", ("energy@euclidean", "ahd@euclidean")),
    ],
)
def test_a_metric_is_judged_beside_prototypes_of_its_own_ground(metric, beside):
    assert Distributionality().prototypes_of(metric) == beside
    assert SMALL.prototypes_of(metric) == ("energy", "ahd")
    other = Distributionality(distributional="mmd", neighbours="medoid@paraphrase-minilm")
    assert other.prototypes_of("fid@wordllama") == ("mmd@wordllama", "medoid@paraphrase-minilm")


def test_each_metric_is_compared_with_its_own_prototypes():
    protocol = replace(SMALL, distributional="energy", neighbours="ahd")
    rising, falling = observed(protocol, noisy(0)), observed(protocol, noisy(1, slope=-1.0))
    found = {
        "energy": rising,
        "ahd": falling,
        "energy@euclidean": falling,
        "ahd@euclidean": rising,
        "irpr": rising,
        "fid": rising,
    }
    judged = protocol.judge_all(found)
    assert (judged["irpr"][2].value, judged["fid"][2].value) == (1.0, -1.0)
    assert [judged[name][2].value for name in ("energy@euclidean", "ahd@euclidean")] == [1.0, -1.0]
    del found["ahd@euclidean"]
    assert "prototypes energy@euclidean and ahd@euclidean" in protocol.judge_all(found)["fid"][2].reason
    assert protocol.judge_all(found)["irpr"][2].reason is None


@pytest.mark.parametrize(
    ("rule", "of_irpr", "of_pr"),
    [
        ("own", ("energy", "ahd"), ("energy@euclidean", "ahd@euclidean")),
        ("paper", ("energy", "ahd"), ("energy", "ahd")),
        ("code", ("energy(root=true)@angular", "ahd@angular"), ("energy(root=true)@angular", "ahd@angular")),
    ],
)
def test_prototypes_are_own_of_the_paper_or_of_its_code(rule, of_irpr, of_pr):
    protocol = Distributionality(prototypes=rule)
    assert protocol.prototypes_of("irpr") == of_irpr
    assert protocol.prototypes_of("pr@cosine") == of_pr
    assert protocol.key == Distributionality().key
