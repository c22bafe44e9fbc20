"""Values of every metric, property and protocol on fixed data, kept in signatures.json with their versions.

python -m tests.golden.signatures          records new entries and those whose version was raised

A value that has changed under the same version is refused: raise the version of the metric or property, and say so
under "Numbers" in the changelog.
"""

import json
import math
import random
from pathlib import Path

import numpy as np
from tests.contract.protocol_data import SMALL, case_of

from textgauge import compare, describe, get_metric, list_metrics, score
from textgauge.bench import list_protocols
from textgauge.metrics.properties import list_properties

FILE = Path(__file__).with_suffix(".json")
HOSTED = ("model", "service", "column")  # have no value of their own
RELATIVE, ABSOLUTE = 1e-5, 1e-7  # other processors change the sixth digit of encoders
EIGHT_BITS, LOOSE = "_int8", 0.02  # what versions of onnxruntime change in metrics with such a model

SUBJECTS = "the bank|my card|a customer|the new account|our manager|the old teller|this app|a friend of mine"
VERBS = "blocked|opened|lost|paid|checked|sent|wanted|closed"
OBJECTS = "a loan|the payment|two letters|the wrong amount|some money|a receipt|the savings plan|an answer"
PLACES = "in London|at the beach|on the train|near the airport|by a lake|for the trip|before lunch|after the flight"


def sentences(count, parts, seed):
    """Sentences of one word or phrase out of each part, drawn by Python's own generator."""
    rng = random.Random(seed)
    return [f"{' '.join(rng.choice(part.split('|')) for part in parts)}." for _ in range(count)]


REFERENCE = sentences(60, (SUBJECTS, VERBS, OBJECTS), 1)
CANDIDATE = [*sentences(20, (SUBJECTS, VERBS, OBJECTS, PLACES), 2), *sentences(30, (SUBJECTS, VERBS, OBJECTS), 4)]
TRAIN = sentences(60, (SUBJECTS, VERBS, OBJECTS), 3)
LEFT, RIGHT = CANDIDATE[:20], [*REFERENCE[:18], CANDIDATE[18].replace("the", "a"), "Kubernetes, 42!"]


def entries():
    """Version and values (headline and parts; means over pairs) by kind and key."""
    corpus = [metric for metric in list_metrics(kind="corpus") if metric.needs not in HOSTED]
    pair = [metric for metric in list_metrics(kind="pair") if metric.needs not in HOSTED]
    compared = compare(reference=REFERENCE, candidate=CANDIDATE, metrics=corpus)
    scored = score(left=LEFT, right=RIGHT, metrics=pair)
    described = describe(generated=CANDIDATE, train=TRAIN, held_out=REFERENCE, grammar=None)
    alone = describe(CANDIDATE, against=REFERENCE, grammar=None)
    found = {}
    for metric, one in zip(corpus, compared, strict=True):
        found[f"corpus {metric.key}"] = metric.version, {"value": one.value, **one.parts}
    for metric, many in zip(pair, scored, strict=True):
        columns = {"value": many.values, **many.parts}
        found[f"pair {metric.key}"] = metric.version, {name: _mean(values.tolist()) for name, values in columns.items()}
    for known in list_properties():
        row = (alone if known.alone else described)[known.name]
        found[f"property {known.name}"] = known.version, {"value": row.value, "low": row.low, "high": row.high}
    for name, kind in list_protocols().items():
        case = case_of(kind(**SMALL.get(name, {})))
        verdicts = {verdict.measure: verdict.value for verdict in case.judged(lambda n, case=case: _values(case, n))}
        found[f"protocol {name}"] = kind.version, verdicts
    return {
        key: (version, {name: _plain(value) for name, value in values.items()})
        for key, (version, values) in sorted(found.items())
    }


def _values(case, n):
    """What a plain metric gives on the trials of a protocol; made up where trials are timed."""
    if case.protocol.timed:
        return np.linspace(1.0, 2.0, n)
    batches = case.batches
    texts = case.protocol.of == "pairs" or batches[0].joint.pool.has_texts
    metric = get_metric("energy@given" if not texts else "jaccard" if case.protocol.of == "pairs" else "jsd@words")
    return np.concatenate([metric.orient(metric.select(batch.compute(metric))) for batch in batches])


def _mean(values):
    defined = [value for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def _plain(value):
    return None if math.isnan(value) else float(f"{value:.9g}")


def kept():
    """What the file holds."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def close(first, second, absolute=ABSOLUTE):
    """Whether two values are the same but for rounding; None for one that does not exist."""
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, rel_tol=RELATIVE, abs_tol=absolute)


def complaint(old, version, values):
    """What is wrong with a value, given what was kept of it; None if nothing is."""
    if old is None or old["version"] != version:
        return "not recorded under this version: python -m tests.golden.signatures"
    names = [name for name in {**old["values"], **values} if not _same(name, old["values"], values)]
    return f"changed in {', '.join(names)}: raise its version and say so in the changelog" if names else None


def _same(name, old, new):
    loose = LOOSE if any(one.endswith(EIGHT_BITS) for one in old) else ABSOLUTE
    return name in old and name in new and close(old[name], new[name], loose)


def main():
    """Write the file anew; refuse changes under the same version."""
    before, now = kept(), entries()
    for key, (version, values) in now.items():
        old = before.get(key)
        if old is not None and old["version"] == version and (said := complaint(old, version, values)):
            raise SystemExit(f"{key}: {said}")
    content = {
        key: before[key] if before.get(key, {}).get("version") == version else {"version": version, "values": values}
        for key, (version, values) in now.items()
    }
    FILE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
