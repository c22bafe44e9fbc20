"""Logs of evaluation harnesses as tables: a row for each sample, with its texts and a column for each score.

Columns: `system`, `data_set`, `item`, `repetition`; `text` (the output), `reference` and `input` where the log has
them; all others are scores. Of several references or messages the first reference and the last message are taken. A log
is known by the keys of its first record, whatever its file is called. Nothing in a log is run.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from textgauge.core.errors import InputError, MissingExtra
from textgauge.core.settings import FILE_BYTES
from textgauge.core.show import shorten_line
from textgauge.data.packing import PACKINGS, PathLike, format_path, read_bytes, read_text

Record: TypeAlias = dict[str, Any]
TEXTS = ("text", "reference", "input")
_ZSTD = 93  # the packing of zip files that Inspect writes, which Python reads from 3.14 on
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # of Inspect: correct, partial, incorrect, no answer
_BOOKKEEPING = (  # of HELM, about a run rather than an answer
    "num_", "finish_reason", "inference_", "training_", "batch_size", "prompt_truncated", "logprob", "max_prob",
    "predicted_index",
)  # fmt: skip


class Log(NamedTuple):
    """A format: who writes it, keys that its first record has, and what makes rows of its records."""

    harness: str
    keys: frozenset[str]
    read: Callable[[Sequence[Record], str], Iterator[Record]]


def read_log(records: Sequence[Any], path: PathLike) -> list[Record] | None:
    """Return the rows of a log, given its records; None where these are no log."""
    first = next(iter(records), None)
    log = next((one for one in LOGS if isinstance(first, dict) and one.keys <= first.keys()), None)
    if log is None:
        return None
    name = format_path(path)
    try:
        rows = list(log.read(records, os.fspath(path)))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        reason = f"{type(error).__name__}: {shorten_line(str(error), 80)}"
        raise InputError(f"{name}: not a log as {log.harness} writes it ({reason})") from None
    if not rows:
        raise InputError(f"{name}: the log of {log.harness} holds no samples")
    return rows


def list_logs(folder: Path) -> list[Path]:
    """List the logs in a folder and below it that are known by their names."""
    known = ("*.eval", "samples_*.jsonl", "*_samples.jsonl", "per_instance_stats.json")
    found = {path for pattern in known for path in folder.rglob(pattern)}
    found |= {path for meta in folder.rglob("model_meta.json") for path in meta.parent.glob("*.json") if path != meta}
    FILE_BYTES.check(sum(path.stat().st_size for path in found), f"{format_path(folder)}: logs")
    return sorted(found)


def read_archive(path: PathLike) -> list[Record]:
    """Return the one record of an Inspect log that is a zip file: the header of the run, with its samples."""
    name, content = format_path(path), read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {info.filename: info for info in archive.infolist()}
            FILE_BYTES.check(sum(info.file_size for info in members.values()), f"{name}: unpacked, a log")
            head = members.get("header.json") or members["_journal/start.json"]
            samples = [info for file, info in sorted(members.items()) if file.startswith("samples/")]
            parsed = [json.loads(_unpack(archive, info, content)) for info in (head, *samples)]
    except (InputError, MissingExtra):
        raise
    except Exception as error:  # a damaged archive raises whatever its parts raise
        raise InputError(f"{name}: not a whole .eval file ({shorten_line(str(error), 80)})") from None
    return [{"plan": None, **parsed[0], "samples": parsed[1:]}]


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, content: bytes) -> bytes:
    if info.compress_type != _ZSTD:
        return archive.read(info)
    name, extra = (int.from_bytes(content[info.header_offset + at :][:2], "little") for at in (26, 28))
    start = info.header_offset + 30 + name + extra
    with PACKINGS[".zst"](io.BytesIO(content[start : start + info.compress_size])) as stream:
        return bytes(stream.read(info.file_size))


def _get_number(value: Any) -> float | None:
    if isinstance(value, str):
        return _GRADES.get(value)
    return float(value) if isinstance(value, bool | int | float) else None


def _get_text(value: Any) -> str | None:
    """Return a text, the first of several, or that of a message."""
    if isinstance(value, list | tuple):
        return _get_text(value[0]) if value else None
    if isinstance(value, dict):
        return _get_text(value.get("text", value.get("content")))
    return None if value is None else value if isinstance(value, str) else str(value)


def _read_inspect(records: Sequence[Record], path: str) -> Iterator[Record]:
    run = records[0]["eval"]
    for sample in records[0].get("samples") or ():
        given, scores = sample["input"], dict[str, float | None]()
        for scorer, score in (sample.get("scores") or {}).items():
            value = score["value"]
            several = value.items() if isinstance(value, dict) else [("", value)]
            scores |= {f"{scorer}.{part}" if part else scorer: _get_number(one) for part, one in several}
        yield {
            "system": run["model"],
            "data_set": run["task"],
            "item": str(sample["id"]),
            "repetition": sample.get("epoch", 1),
            "text": (sample.get("output") or {}).get("completion"),
            "reference": _get_text(sample.get("target")),
            "input": _get_text(given[-1:] if isinstance(given, list) else given),
            **scores,
        }


def _read_lm_eval(records: Sequence[Record], path: str) -> Iterator[Record]:
    """Read samples; the model is the folder's name, the task is in that of the file, as the harness writes them."""
    place = Path(path)
    for record in records:
        arguments = record.get("arguments")
        asked = next(iter(arguments.values()), None) if isinstance(arguments, dict) else arguments and arguments[0]
        answer = record["filtered_resps"]
        filtered = f",{record['filter']}" if record.get("filter", "none") != "none" else ""
        names = record.get("metrics") or [name for name, value in record.items() if isinstance(value, float)]
        yield {
            "system": place.parent.name or place.stem,
            "data_set": place.stem.removeprefix("samples_").rpartition("_")[0] or place.stem,
            "item": str(record["doc_id"]),
            "text": answer[0] if answer and isinstance(answer[0], str) else None,
            "reference": _get_text(record.get("target")),
            "input": _get_text(list(asked.values()) if isinstance(asked, dict) else asked),
            **{f"{name}{filtered}": _get_number(record.get(name)) for name in names},
        }


def _read_promptfoo(records: Sequence[Record], path: str) -> Iterator[Record]:
    """Read results; an item is what its variables are, as repetitions have numbers of their own."""
    results = records[0]["results"]["results"]
    several = len({result["prompt"].get("label") for result in results}) > 1
    for result in results:
        provider = result["provider"]
        provider = provider if isinstance(provider, str) else provider.get("label") or provider["id"]
        test = result.get("testCase") or {}
        expected = [one.get("value") for one in test.get("assert") or () if isinstance(one.get("value"), str)]
        yield {
            "system": f"{provider} · {result['prompt'].get('label')}" if several else provider,
            "item": json.dumps(test.get("vars") or result.get("vars"), sort_keys=True, ensure_ascii=False),
            "text": _get_text((result.get("response") or {}).get("output")),
            "reference": _get_text(expected),
            "input": _get_text(result["prompt"].get("raw")),
            "score": _get_number(result.get("score")),
            **{name: _get_number(value) for name, value in (result.get("namedScores") or {}).items()},
        }


def _read_deepeval(records: Sequence[Record], path: str) -> Iterator[Record]:
    run, settings = records[0], records[0].get("hyperparameters") or {}
    for place, case in enumerate(run["testCases"]):
        yield {
            "system": str(settings.get("model") or run.get("identifier") or Path(path).stem),
            "item": str(case.get("input") or case.get("name") or place),
            "text": case.get("actualOutput"),
            "reference": case.get("expectedOutput"),
            "input": case.get("input"),
            **{one["name"]: _get_number(one.get("score")) for one in case.get("metricsData") or ()},
        }


def _read_helm(records: Sequence[Record], path: str) -> Iterator[Record]:
    """Read statistics of instances; model, scenario and texts are in files of the same folder."""
    folder = Path(path).parent
    files = {name: folder / f"{name}.json" for name in ("run_spec", "scenario_state")}
    found = {name: json.loads(read_text(file)) for name, file in files.items() if file.is_file()}
    run, states = found.get("run_spec", {}), found.get("scenario_state", {}).get("request_states", ())
    state_of = {(state["instance"]["id"], state.get("train_trial_index")): state for state in states}
    for record in records:
        state = state_of.get((record["instance_id"], record.get("train_trial_index")), {})
        instance, result = state.get("instance", {}), state.get("result", {})
        right = [one["output"] for one in instance.get("references", ()) if "correct" in one.get("tags", ())]
        if record.get("perturbation"):
            continue
        scores = {one["name"]["name"]: one.get("mean") for one in record["stats"]}
        yield {
            "system": (run.get("adapter_spec") or {}).get("model") or folder.name,
            "data_set": str(run.get("name") or folder.name).partition(",model=")[0].partition(":model=")[0],
            "item": str(record["instance_id"]),
            "repetition": record.get("train_trial_index", 0),
            "text": _get_text(result.get("completions", ())),
            "reference": _get_text(right),
            "input": _get_text(instance.get("input")),
            **{name: value for name, value in scores.items() if not name.startswith(_BOOKKEEPING)},
        }


def _read_mteb(records: Sequence[Record], path: str) -> Iterator[Record]:
    """Read the main scores of a task, one for each subset; its folder is `MODEL/REVISION`."""
    model = Path(path).absolute().parent.parent.name.replace("__", "/")
    subsets = [(record["task_name"], one) for record in records for split in record["scores"].values() for one in split]
    for task, subset in subsets:
        yield {"system": model, "item": task, "score": _get_number(subset.get("main_score"))}


def _read_every_eval(records: Sequence[Record], path: str) -> Iterator[Record]:
    """Read samples; a sample has one record for each of its scores."""
    several = len({record.get("evaluation_result_id") for record in records}) > 1
    samples: dict[tuple[Any, ...], Record] = {}
    for record in records:
        given, messages = record["input"], record.get("messages") or ()
        row = {
            "system": record["model_id"],
            "data_set": record["evaluation_name"],
            "item": str(record["sample_id"]),
            "repetition": (record.get("metadata") or {}).get("epoch", "1"),
            "text": _get_text((record.get("output") or {}).get("raw") or messages[-1:]),
            "reference": _get_text(given.get("reference")),
            "input": _get_text(given.get("raw")),
        }
        score = str(record.get("evaluation_result_id")) if several else "score"
        samples.setdefault(tuple(row.values())[:4], row)[score] = _get_number(record["evaluation"]["score"])
    yield from samples.values()


LOGS = (
    Log("Inspect", frozenset({"eval", "status", "plan"}), _read_inspect),
    Log("lm-evaluation-harness", frozenset({"doc_id", "doc", "filtered_resps"}), _read_lm_eval),
    Log("promptfoo", frozenset({"evalId", "results"}), _read_promptfoo),
    Log("DeepEval", frozenset({"testCases"}), _read_deepeval),
    Log("HELM", frozenset({"instance_id", "stats"}), _read_helm),
    Log("mteb", frozenset({"task_name", "scores"}), _read_mteb),
    Log("every_eval_ever", frozenset({"evaluation_id", "model_id", "sample_id", "evaluation"}), _read_every_eval),
)
