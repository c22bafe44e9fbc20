"""Whether numbers depend on anything but the texts: the same values computed in other settings, compared bit by bit.

python -m benchmarks.equality

Every corpus metric, pair metric and property is computed on fixed texts in a process of its own for each line: with
other numbers of threads, hash seeds and locales, with the texts in reverse order. A line of
benchmarks/simulated/equality.jsonl says for each how many values have the same bits; `python -m benchmarks.reliability`
makes the table of it.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

from tests.golden import signatures

from benchmarks.simulated import file_of
from benchmarks.trust import keep
from textgauge import compare, describe, list_metrics, score

SETTINGS: dict[str, dict[str, str]] = {
    "one thread": {"TEXTGAUGE_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "two threads": {"TEXTGAUGE_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
    "another hash seed": {"PYTHONHASHSEED": "12345"},
    "locale C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "locale tr_TR": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "texts in reverse order": {"BACKWARDS": "1"},
}
ROUNDING = 1e-9


def values(*, backwards: bool) -> dict[str, float]:
    """Headlines and parts of corpus metrics and properties, and those of pair metrics for each pair."""
    reference, candidate, train = signatures.REFERENCE, signatures.CANDIDATE, signatures.TRAIN
    if backwards:
        reference, candidate, train = reference[::-1], candidate[::-1], train[::-1]
    corpus, pair = (
        [metric for metric in list_metrics(kind=kind) if metric.needs not in signatures.HOSTED]
        for kind in ("corpus", "pair")
    )
    found = {}
    for one in compare(reference=reference, candidate=candidate, metrics=corpus):
        found |= {f"{one.metric}.{name}": value for name, value in {"value": one.value, **one.parts}.items()}
    left, right = (side[::-1] if backwards else side for side in (signatures.LEFT, signatures.RIGHT))
    for metric, many in zip(pair, score(left=left, right=right, metrics=pair), strict=True):
        rows = many.values[::-1] if backwards else many.values
        found |= {f"{metric.key}[{row}]": value for row, value in enumerate(rows.tolist())}
    described = describe(generated=candidate, train=train, held_out=reference, grammar=None)
    found |= {f"property {row['property']}": row["value"] for row in described.to_dicts() if row["value"] is not None}
    return {name: float(value) for name, value in found.items()}


def child(settings: dict[str, str]) -> dict[str, float]:
    """The values in a process with these settings."""
    program = "from benchmarks.equality import print_values; print_values()"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=os.environ | settings,
        check=True,
        capture_output=True,
        text=True,
    )
    return {name: float.fromhex(text) for name, text in json.loads(done.stdout.splitlines()[-1]).items()}


def print_values() -> None:
    """All values as JSON, every bit of them."""
    found = values(backwards=os.environ.get("BACKWARDS") == "1")
    print(json.dumps({name: value.hex() for name, value in found.items()}))


def main() -> None:
    """Compare all settings with the plain one."""
    plain = child({})
    for name, settings in SETTINGS.items():
        other = child(settings)
        unequal = [key for key in plain if plain[key].hex() != other[key].hex()]
        different = [
            key for key in unequal if not math.isclose(plain[key], other[key], rel_tol=ROUNDING, abs_tol=ROUNDING)
        ]
        which = sorted({key.partition(".")[0].partition("[")[0].partition("@")[0] for key in unequal})
        line = {"setting": name, "values": len(plain), "same": len(plain) - len(unequal)}
        line |= {"rounding": len(unequal) - len(different), "different": len(different), "in": which}
        keep(file_of("equality"), line, "setting")


if __name__ == "__main__":
    main()
