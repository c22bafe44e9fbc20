"""Whether numbers depend on anything but the texts: the same values computed in other settings, compared bit by bit.

python -m benchmarks.equality [SETTING]    settings by a part of their names

Every corpus metric, with its interval, test and null range, every pair metric and every property is computed on fixed
texts in a process of its own for each line, without a cache: with other numbers of threads and workers, for the second
time, embedded in other batches, with other hash seeds and locales, with the texts in reverse order. A line of
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
from textgauge.encode.embedders import static, transformer

SETTINGS: dict[str, dict[str, str]] = {
    "one thread": {"TEXTGAUGE_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "two threads": {"TEXTGAUGE_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
    "second call in a process": {"CALLS": "2"},
    "two workers, `--scheduler local:2`": {"SCHEDULER": "local:2"},
    "embedded one by one": {"BATCH": "1"},
    "embedded in batches of 7": {"BATCH": "7"},
    "embedded in batches of 64": {"BATCH": "64"},
    "another hash seed": {"PYTHONHASHSEED": "12345"},
    "locale C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "locale tr_TR": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "linear algebra of an older processor": {"OPENBLAS_CORETYPE": "Nehalem"},
    "texts in reverse order": {"BACKWARDS": "1"},
}
UNCACHED = {"TEXTGAUGE_NO_CACHE": "1"}
NUMBERS = ("value", "low", "high", "p_value", "null", "null_low", "null_high", "effect")
ROUNDING = 1e-9


def values(*, backwards: bool, scheduler: str | None) -> dict[str, float]:
    """Numbers and parts of corpus metrics, properties, and those of pair metrics for each pair."""
    reference, candidate, train = signatures.REFERENCE, signatures.CANDIDATE, signatures.TRAIN
    if backwards:
        reference, candidate, train = reference[::-1], candidate[::-1], train[::-1]
    corpus, pair = (
        [metric for metric in list_metrics(kind=kind) if metric.needs not in signatures.HOSTED]
        for kind in ("corpus", "pair")
    )
    found = {}
    for one in compare(reference=reference, candidate=candidate, metrics=corpus, ci=True, scheduler=scheduler):
        numbers = {name: getattr(one, name) for name in NUMBERS} | one.parts
        found |= {f"{one.metric}.{name}": value for name, value in numbers.items()}
    left, right = (side[::-1] if backwards else side for side in (signatures.LEFT, signatures.RIGHT))
    scored = score(left=left, right=right, metrics=pair, scheduler=scheduler)
    for metric, many in zip(pair, scored, strict=True):
        rows = many.values[::-1] if backwards else many.values
        found |= {f"{metric.key}[{row}]": value for row, value in enumerate(rows.tolist())}
    described = describe(generated=candidate, train=train, held_out=reference, grammar=None, scheduler=scheduler)
    for row in described.to_dicts():
        found |= {f"property {row['property']}.{name}": row[name] for name in ("value", "low", "high")}
    return {name: float(value) for name, value in found.items() if value is not None and not math.isnan(value)}


def embed_in_batches(size: int) -> None:
    """Let encoders take this many texts at once."""
    split = transformer.split_by_length
    transformer.split_by_length = lambda ids, _: split(ids, size)
    static.StaticEmbedder.encode.__kwdefaults__["batch_size"] = size  # type: ignore[index]


def child(settings: dict[str, str]) -> dict[str, float]:
    """The values in a process with these settings."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.equality", "--print"],
        env=os.environ | UNCACHED | settings,
        check=True,
        capture_output=True,
        text=True,
    )
    return {name: float.fromhex(text) for name, text in json.loads(done.stdout.splitlines()[-1]).items()}


def print_values() -> None:
    """All values as JSON, every bit of them."""
    given = os.environ
    if "BATCH" in given:
        embed_in_batches(int(given["BATCH"]))
    for _ in range(int(given.get("CALLS", "1"))):
        found = values(backwards="BACKWARDS" in given, scheduler=given.get("SCHEDULER"))
    print(json.dumps({name: value.hex() for name, value in found.items()}))


def main() -> None:
    """Compare the settings that are asked for with the plain one."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    if wanted == "--print":
        print_values()
        return
    plain = child({})
    for name, settings in SETTINGS.items():
        if wanted not in name:
            continue
        other = child(settings)
        assert plain.keys() == other.keys()
        unequal = [key for key in plain if plain[key].hex() != other[key].hex()]
        different = [
            key for key in unequal if not math.isclose(plain[key], other[key], rel_tol=ROUNDING, abs_tol=ROUNDING)
        ]
        which = sorted({key.partition(".")[0].partition("[")[0].partition("@")[0] for key in unequal})
        line = {"setting": name, "values": len(plain), "same": len(plain) - len(unequal)}
        line |= {"rounding": len(unequal) - len(different), "different": len(different), "in": which}
        keep(file_of("equality"), line, "setting")
        print(line, flush=True)


if __name__ == "__main__":
    main()
