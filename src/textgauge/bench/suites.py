"""Suites: short functions that name data, protocols and metrics of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from textgauge.bench.plan import Plan
from textgauge.corpus import Corpus
from textgauge.datasets import load_texts
from textgauge.errors import InputError, UnknownName
from textgauge.metrics import get_corpus_metrics
from textgauge.protocols import Ksc, Protocol, Size, Sources, Speed

KOUR_METRICS = "chi,zipf,fid,pr,dc,mauve,classifier,irpr"
# The same eight as the authors' code has them.
KOUR_PAPER_METRICS = (
    "chi(df=paper),zipf,fid,pr(ties=open),dc(ties=open),mauve,classifier(score=f1),irpr(compat=compcor)@angular"
)
QUICK_METRICS = "energy,mmd,fid,pr,dc,irpr,medoid,ttest,classifier,cbdf,jsd,zipf"


def sources_of(a: str, b: str, *, column: str | None = None, limit: int | None = None, seed: int = 0) -> Sources:
    """Two corpora by path, sample or dataset name."""
    corpora = {
        role: Corpus.of(load_texts(name, column=column, limit=limit, seed=seed).texts)
        for role, name in (("a", a), ("b", b))
    }
    return Sources(f"{a},{b}", corpora)


def plans_of(
    protocols: Sequence[Protocol], sources: Sequence[Sources], metrics: str | Sequence[str], seed: int
) -> list[Plan]:
    """Every protocol on every data set."""
    chosen = get_corpus_metrics(metrics)
    if not chosen:
        raise InputError("name at least one metric with -m")
    return [Plan(protocol, data, chosen, seed) for data, protocol in product(sources, protocols)]


def ksc_quick(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """Known-similarity corpora of two built-in corpora: about a minute."""
    data = [sources_of("sample:banking", "sample:travel")]
    return plans_of([Ksc(n=50, repetitions=5)], data, metrics or QUICK_METRICS, seed)


def kour2022(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """The tables of Kour et al. 2022: two pairs of sources, k of 7 and 12, size and imbalance, time."""
    data = [sources_of("clinc150", "banking77"), sources_of("atis", "nfcats")]
    protocols = [Ksc(k=7), Ksc(k=12), Size(), Speed(repetitions=3)]
    return plans_of(protocols, data, metrics or KOUR_METRICS, seed)


SUITES: dict[str, Callable[..., list[Plan]]] = {"ksc-quick": ksc_quick, "kour2022": kour2022}


def suite(name: str, *, metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """The plans of a suite."""
    if name not in SUITES:
        raise UnknownName.among("suite", name, SUITES)
    return SUITES[name](metrics, seed)


def described() -> Iterator[tuple[str, str]]:
    """Names and first lines of all suites."""
    for name, function in SUITES.items():
        yield name, (function.__doc__ or "").strip().splitlines()[0]
