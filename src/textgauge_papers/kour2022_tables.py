"""Kour et al. 2022, table 3: what is run for it, and each published number next to ours, in standard errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np

from textgauge.bench import Group, Ksc, Observations, Plan, Protocol, Results, Size, Sources, Speed, Store, Verdicts
from textgauge.bench import make_plans as make_protocol_plans
from textgauge.core import Floats, Ints, Row, drop_nonfinite_values, use_one_blas_thread, write_atomically
from textgauge.data import Corpus, load_published_texts
from textgauge.metrics import get_corpus_metrics, get_metric
from textgauge_papers.paper import Request, load_published, make_row

KOUR_METRICS = "chi,zipf,fid,pr,dc,mauve,classifier,irpr"
# The same eight as the authors' code has them; of mixtures, CLASSIFIER has a split of its own for every pair.
_AS_CODED = (
    "chi(df=paper,padding=source),zipf(ranks=paper,padding=source),fid,pr(ties=open),dc(ties=open),mauve,"
    "irpr(compat=compcor)@angular"
)
_CLASSIFIER = "classifier(score=f1)"
# What may have been computed for the paper: found by a scan of 129 forms after the published numbers were seen.
CONJECTURE = "chi(df=paper,top=120),zipf(ranks=paper)"
VARIANT_METRICS = {"definition": KOUR_METRICS, "paper": f"{_AS_CODED},{_CLASSIFIER}", "conjecture": CONJECTURE}
OUR_DATA = {("clinc150", "banking77"): "clinc150,banking77", ("atis", "yahoo"): "atis,nfcats"}
# The parts of our sources that the paper's table 2 has: 10,000 texts of banking77, 4,978 of atis.
_PARTS = {"clinc150": ("clinc150",), "banking77": ("banking77/train",), "atis": ("atis/train", "atis/valid")}
_ROWS_READ = 6_000  # of each source, by the authors' code
REPETITIONS = 40  # of mixtures; the paper has 5
_KSC = partial(Ksc, n=100, draw="disjoint")
MIXED = ("accuracy", "weighted_accuracy", "monotonicity", "separability", "linearity")
SIZED = ("size_robustness", "imbalance_robustness")
SEVEN = (*MIXED, *SIZED)
_OUR_MEASURE = {"time_100ops": "throughput"}
# How the authors' code judges: repeated judgements, ties wrong, r for R², imbalance not divided.
_PAPER = {"judgements": "paper", "ties": "wrong", "linearity": "r", "scale": "paper"}
_PAIRS = "classifier-pairs"


@dataclass(frozen=True, eq=False)
class RepeatedSources(Sources):
    """Sources whose repeated texts are drawn as often as they stand there, as the authors' code does."""

    def distinct(self, role: str) -> Ints:
        """Return all rows of a corpus."""
        return np.arange(len(self.corpora[role]))


def read_kour_sources(theirs: Sequence[str], variant: str) -> Sources:
    """Return two sources as published: different texts, or 6,000 rows of each as the authors' code reads them."""
    corpora = {}
    for role, name in zip("ab", OUR_DATA[theirs[0], theirs[1]].split(","), strict=True):
        texts = [text for part in _PARTS.get(name, (name,)) for text in load_published_texts(part).texts]
        rows = np.random.default_rng(0).permutation(len(texts))[: _ROWS_READ if variant == "paper" else None]
        corpora[role] = Corpus.of([texts[row] for row in np.sort(rows).tolist()])
    return (RepeatedSources if variant == "paper" else Sources)(OUR_DATA[theirs[0], theirs[1]], corpora)


def make_variant_plans(metrics: str | Sequence[Any], variant: str, seed: int, repetitions: int) -> list[Plan]:
    """Mixtures, size and imbalance, time; the authors' code has its own order of mixtures and its own large sample."""
    data = [read_kour_sources(theirs, variant) for theirs in OUR_DATA]
    if variant != "paper":
        protocols: list[Protocol] = [_KSC(k=k, repetitions=repetitions) for k in (7, 12)]
        return make_protocol_plans([*protocols, Size(), Speed(repetitions=3)], data, metrics, seed)
    mixtures = make_protocol_plans(_mixtures(repetitions), data, f"{_AS_CODED},{CONJECTURE}", seed)
    large = make_protocol_plans([Size(asymptote="whole")], data, f"{VARIANT_METRICS['paper']},{CONJECTURE}", seed)
    return [*mixtures, *large]


def _mixtures(repetitions: int) -> list[Ksc]:
    return [_KSC(k=k, order="paper", repetitions=repetitions) for k in (7, 12)]


def compute_classifier_pairs(store: Store, request: Request) -> None:
    """Store CLASSIFIER on mixtures with a split of its own for every pair of corpora: a seed for each."""
    if "paper" not in request.variants:
        return
    (metric,) = get_corpus_metrics(_CLASSIFIER)
    for theirs, protocol in product(OUR_DATA, _mixtures(request.params.get("repetitions", REPETITIONS))):
        plan = Plan(protocol, read_kour_sources(theirs, "paper"), [metric], request.seed)
        path = store.folder / _PAIRS / f"{plan.cell(0, metric).name}.json"
        kept: dict[str, Any] = {"data": plan.sources.name, "k": protocol.k, "seed": request.seed, "values": []}
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else kept
        path.parent.mkdir(exist_ok=True)
        for batch in islice(plan.batches(), len(kept["values"]), None):
            batch.prepare(metric)
            each = [replace(metric, seed=1 + trial) for trial in range(len(batch))]  # type: ignore[call-arg]
            with use_one_blas_thread():
                kept["values"].append([batch.one(one, trial)[0]["value"] for trial, one in enumerate(each)])
            write_atomically(path, json.dumps(kept))


def _read_classifier_pairs(results: Results, seed: int) -> Iterator[tuple[Group, str, Verdicts]]:
    key = get_metric(_CLASSIFIER).key
    for path in sorted((results.store.folder / _PAIRS).glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["seed"] != seed:
            continue
        values = np.array(kept["values"])
        i, j = np.triu_indices(kept["k"], 1)
        columns = {"i": np.tile(i, len(values)), "j": np.tile(j, len(values))}
        observed = Observations(values.ravel(), np.repeat(np.arange(len(values)), len(i)), columns)
        judging = {name: value for name, value in _PAPER.items() if name in Ksc.judging}
        protocol = _KSC(k=kept["k"], order="paper", repetitions=len(values), **judging)  # type: ignore[arg-type]
        group = Group(kept["data"], protocol, seed, judged={key: protocol.judge(observed)})
        yield group, key, group.verdicts[key]


def judge_as(results: Results, variant: str, seed: int = 0) -> Iterator[tuple[Group, str, Verdicts]]:
    """Yield verdicts on the metrics of a variant, judged as it does, with the group and the metric that they are of."""
    keys = {metric.key for metric in get_corpus_metrics(VARIANT_METRICS[variant])}
    coded = variant != "definition"
    for group in results.groups(_PAPER if coded else {}):
        if is_of_variant(group.protocol, coded=coded):
            yield from ((group, metric, of) for metric, of in group.verdicts.items() if metric in keys)
    if variant == "paper":
        yield from _read_classifier_pairs(results, seed)


def is_of_variant(protocol: Protocol, *, coded: bool) -> bool:
    """Return whether a protocol is as defined, or as in the authors' code; time is measured once."""
    if isinstance(protocol, Ksc):
        return (protocol.order == "paper") == coded
    return (isinstance(protocol, Size) and (protocol.asymptote == "whole") == coded) or (
        isinstance(protocol, Speed) and not coded
    )


# Why a number may differ: the reason, and the rows it is about.
_REASONS: tuple[tuple[str, dict[str, tuple[str, ...]]], ...] = (
    ("other questions in place of Yahoo's", {"source_b": ("yahoo",)}),
    ("another machine and other code", {"measure": ("time_100ops",)}),
    (
        "the paper's code lists judgements more than once and counts ties as wrong",
        {"variant": ("definition",), "measure": ("accuracy", "weighted_accuracy")},
    ),
    ("the paper prints r, not R²", {"variant": ("definition",), "measure": ("linearity",)}),
    (
        "the paper's code does not divide by the distance of large samples",
        {"variant": ("definition",), "measure": ("imbalance_robustness",)},
    ),
    (
        "the paper's code divides each sum by the other corpus's size",
        {"variant": ("definition",), "metric": ("IRPR",), "measure": ("imbalance_robustness",)},
    ),
    (
        "the released code counts padding; the published numbers fit better without",
        {"variant": ("paper",), "metric": ("CHI", "ZIPF")},
    ),
)


def rows(results: Results, request: Request) -> list[Row]:
    """Return each published number next to ours, with the `reason` of their difference where one is known.

    `error` is the standard error of the published mean, by the spread of our repetitions; `z` is the difference in
    standard errors, ours included. With the authors' variant come CHI and ZIPF as conjectured.
    """
    variants = [*request.variants, *(["conjecture"] if "paper" in request.variants else [])]
    return [row for variant in variants for row in _rows(results, variant, request.seed)]


def _rows(results: Results, variant: str, seed: int) -> Iterator[Row]:
    ours = _get_our_numbers(results, variant, seed)
    names = {metric.name.upper() for metric in get_corpus_metrics(VARIANT_METRICS[variant])}
    for row in load_published("kour2022_table3").iter_rows(named=True):
        if row["metric"] not in names or (variant != "definition" and row["measure"] in _OUR_MEASURE):
            continue
        key = (row["source_a"], row["source_b"], row["k"], row["metric"], row["measure"])
        about = {name: row[name] for name in ("source_a", "source_b", "k", "metric", "measure")}
        values = ours.get(key, np.array([np.nan]))
        value = float(values.mean())
        found = make_row("3", {"variant": variant, **about}, row["value"], value, "our data")
        if row["measure"] not in _OUR_MEASURE and len(values) > 1:
            spread = float(values.std(ddof=1))
            whole = spread * float(np.sqrt(1 / row["repetitions"] + 1 / len(values)))
            found["error"] = spread / float(np.sqrt(row["repetitions"]))
            found["z"] = (value - row["value"]) / whole if whole > 0 else float("nan")
        reasons = [said for said, of in _REASONS if all(found[name] in chosen for name, chosen in of.items())]
        yield drop_nonfinite_values(found | {"repetitions": len(values), "reason": "; ".join(reasons) or None})


def _get_our_numbers(results: Results, variant: str, seed: int) -> dict[tuple[Any, ...], Floats]:
    found: dict[tuple[Any, ...], Floats] = {}
    theirs = {ours: name for name, ours in OUR_DATA.items()}
    measures = {ours: name for name, ours in _OUR_MEASURE.items()}
    for group, metric, verdicts in judge_as(results, variant, seed):
        if group.data not in theirs:
            continue
        k = getattr(group.protocol, "k", None)
        for verdict in verdicts.values():
            measure = measures.get(verdict.measure, verdict.measure)
            values = np.array(verdict.values if len(verdict.values) else [verdict.value])
            # Time does not depend on k; the paper prints it for both.
            for place in (7, 12) if measure == "time_100ops" else (k,):
                found[*theirs[group.data], place, get_metric(metric).name.upper(), measure] = values
    return found
