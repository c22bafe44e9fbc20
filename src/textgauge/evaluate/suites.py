"""Suites: short functions that name data, protocols and metrics of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from textgauge.data.source import Source, load_corpus, source_name
from textgauge.errors import InputError, UnknownName
from textgauge.evaluate.ifc_sources import ifc_quick_sources
from textgauge.evaluate.paraphrases import paraphrase_sources
from textgauge.evaluate.plan import Plan
from textgauge.evaluate.protocols import Agreement, Distributionality, Ifc, Ksc, Protocol, Size, Sources, Speed
from textgauge.evaluate.protocols.base import Data
from textgauge.evaluate.rated import rated_sources
from textgauge.evaluate.tasks import usmb, usmb_quick
from textgauge.metrics import Metric, get_corpus_metrics, get_metrics, get_pair_metrics

KOUR_METRICS = "chi,zipf,fid,pr,dc,mauve,classifier,irpr"
# The same eight as the authors' code has them.
KOUR_PAPER_METRICS = (
    "chi(df=paper),zipf,fid,pr(ties=open),dc(ties=open,compat=compcor),mauve,classifier(score=f1),"
    "irpr(compat=compcor)@angular"
)
# On samples of different size their DC has the roles of its definition.
KOUR_PAPER_SIZE_METRICS = KOUR_PAPER_METRICS.replace("dc(ties=open,compat=compcor)", "dc(ties=open)")
# Yamshchikov et al.'s thirteen; word vectors and encoders are the built-in ones where theirs are not to be had.
YAMSHCHIKOV_METRICS = (
    "pos_distance,overlap,chrf,wordvec_cosine,wmd,contextual_l2,rouge1@rouge,rouge2@rouge,rougeL@rouge,"
    "bleu(smoothing=none,effective=false)@whitespace,meteor,bertscore"
)
# Ackerman et al.'s metrics, and the parts of two of them (§5.4). By their text, prototypes and IRPR are of cosine
# distances; by their code, of angles, and energy is a root.
_KS = "(k=1|2|3|5|10)@minilm:cosine"
ACKERMAN_METRICS = {
    "definition": f"energy,ahd,irpr,fid,mauve,pr{_KS},dc{_KS}",
    "paper": f"energy(root=true)@angular,ahd@angular,irpr@angular,fid,mauve,pr{_KS},dc{_KS}",
}
ACKERMAN_SAMPLES = 5
ACKERMAN_PARTS = ",".join(f"{part}{_KS}" for part in ("pr.precision", "pr.recall", "dc.density", "dc.coverage"))
QUICK_METRICS = "energy,mmd,fid,pr,dc,irpr,medoid,ttest,classifier,cbdf,jsd,zipf"
FIRST_METRICS = "energy,mmd,fid,pr,dc,irpr,ahd,mauve,classifier,cbdf,jsd,zipf"
FIRST_PAIR_METRICS = "cosine@minilm|wordllama,bertscore,chrf,bleu,rouge1,meteor,jaccard,levenshtein,wmd"
QUICK_PAIR_METRICS = "cosine,chrf,bleu,rouge1,jaccard,levenshtein,wmd"


def sources_of(a: Source, b: Source, *, column: str | None = None, limit: int | None = None, seed: int = 0) -> Sources:
    """Two corpora, by path, sample or dataset name, or as texts."""
    given = {"a": a, "b": b}
    corpora = {
        role: load_corpus(source, role=f"source {role}", column=column, limit=limit, seed=seed)
        for role, source in given.items()
    }
    return Sources(",".join(source_name(source, role) for role, source in given.items()), corpora)


def plans_of(
    protocols: Sequence[Protocol], sources: Sequence[Data], metrics: str | Sequence[str], seed: int
) -> list[Plan]:
    """Every protocol on every data set, with metrics of corpora or of pairs as the protocols need.

    Metrics that a protocol judges all others by are added to its own.
    """
    on_pairs = any(protocol.of == "pairs" for protocol in protocols)
    chosen: Sequence[Metric] = get_pair_metrics(metrics) if on_pairs else get_corpus_metrics(metrics)
    if not chosen:
        raise InputError("name at least one metric with -m")
    return [
        Plan(protocol, data, get_metrics([*chosen, *protocol.also(metric.key for metric in chosen)]), seed)
        for data, protocol in product(sources, protocols)
    ]


def quick(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """A first look at everything on built-in data: mixtures, size, paraphrases, ratings, the five tasks."""
    if metrics is not None:
        raise InputError("the suite quick runs metrics of corpora and of pairs and names its own; name a protocol")
    corpora = [sources_of("sample:banking", "sample:travel")]
    size = Size(smallest=50, step=100, total=400, large=450, draws=3, repetitions=5)
    return [
        *plans_of([Ksc(n=50, repetitions=5), size], corpora, FIRST_METRICS, seed),
        *plans_of([Distributionality()], [paraphrase_sources("sample:banking")], FIRST_METRICS, seed),
        *plans_of([Agreement()], [rated_sources("sample:graded", limit=300)], FIRST_PAIR_METRICS, seed),
        *usmb_quick(seed=seed),
    ]


def ksc_quick(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """Known-similarity corpora of two built-in corpora: about a minute."""
    data = [sources_of("sample:banking", "sample:travel")]
    return plans_of([Ksc(n=50, repetitions=5)], data, metrics or QUICK_METRICS, seed)


def kour2022(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """The tables of Kour et al. 2022: two pairs of sources, k of 7 and 12, size and imbalance, time."""
    return kour_plans(metrics or KOUR_METRICS, metrics or KOUR_METRICS, seed)


def kour_plans(mixed: str | Sequence[str], sized: str | Sequence[str], seed: int) -> list[Plan]:
    """The same with metrics of known-similarity corpora, and metrics of size and time."""
    data = [sources_of("clinc150", "banking77"), sources_of("atis", "nfcats")]
    return [
        *plans_of([Ksc(k=7), Ksc(k=12)], data, mixed, seed),
        *plans_of([Size(), Speed(repetitions=3)], data, sized, seed),
    ]


def yamshchikov2020(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """The tables of Yamshchikov et al. 2021: thirteen metrics of pairs and people, on fourteen sets."""
    return plans_of([Agreement()], [rated_sources("yamshchikov14")], metrics or YAMSHCHIKOV_METRICS, seed)


def distributionality_quick(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """Distributionality on built-in paraphrases: about a minute."""
    data = [paraphrase_sources("sample:banking")]
    return plans_of([Distributionality()], data, metrics or f"{QUICK_METRICS},ahd", seed)


def ackerman2023(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """Distributionality as in Ackerman et al. 2023: five sets of duplicate questions of Quora."""
    asked = metrics or [ACKERMAN_METRICS["definition"], ACKERMAN_PARTS]
    return plans_of([Distributionality(samples=ACKERMAN_SAMPLES)], [paraphrase_sources("qqp")], asked, seed)


def ifc_quick(metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """A trigram model that learns more and more of built-in texts: about a minute."""
    return plans_of([Ifc()], [ifc_quick_sources()], metrics or f"{QUICK_METRICS},mauve", seed)


SUITES: dict[str, Callable[..., list[Plan]]] = {
    "quick": quick,
    "ksc-quick": ksc_quick,
    "kour2022": kour2022,
    "distributionality-quick": distributionality_quick,
    "ackerman2023": ackerman2023,
    "yamshchikov2020": yamshchikov2020,
    "ifc-quick": ifc_quick,
    "usmb-quick": usmb_quick,
    "usmb": usmb,
}


def suite(name: str, *, metrics: str | Sequence[str] | None = None, seed: int = 0) -> list[Plan]:
    """The plans of a suite."""
    if name not in SUITES:
        raise UnknownName.among("suite", name, SUITES)
    return SUITES[name](metrics, seed)
