import asyncio
import json
import os

import pytest

import textgauge
from textgauge import integrations
from textgauge.core.errors import InputError, MissingExtra, TextgaugeError

REFERENCES, OUTPUTS = ["a red cat", "one dog", "no"], ["a red cat", "two dogs", "no, never"]


def test_a_metric_by_name_takes_texts_and_lists():
    chrf = textgauge.metric("chrf")
    both = chrf(OUTPUTS, REFERENCES).values
    assert float(chrf(OUTPUTS[1], REFERENCES[1])) == both[1] < both[0] == 100.0


def test_a_function_for_scikit_learn_gives_the_mean():
    score = integrations.make_sklearn_score("chrf")
    assert score(REFERENCES, OUTPUTS) == pytest.approx(textgauge.metric("chrf")(OUTPUTS, REFERENCES).values.mean())
    with pytest.raises(TextgaugeError):
        integrations.make_sklearn_score("energy")


@pytest.mark.parametrize("name", ["inspect_scorer", "mlflow_scorer", "deepeval_metric"])
def test_a_harness_that_is_not_installed_is_named(name, monkeypatch):
    def refuse(module):
        raise ImportError(module)

    monkeypatch.setattr(integrations, "import_module", refuse)
    with pytest.raises(MissingExtra, match=name.partition("_")[0]):
        getattr(integrations, f"make_{name}")("chrf")


def test_inspect_scores_its_samples(tmp_path, monkeypatch):
    inspect_ai = pytest.importorskip("inspect_ai", reason="needs the extra inspect")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model

    tokens = type("Tokens", (), {"encode": lambda self, text, **_: text.split()})()
    monkeypatch.setattr("tiktoken.get_encoding", lambda name: tokens)  # which would be fetched
    made = [ModelOutput.from_content("mockllm/model", text) for text in OUTPUTS]
    task = inspect_ai.Task(
        dataset=[Sample(input="?", target=text) for text in REFERENCES], scorer=integrations.make_inspect_scorer("chrf")
    )
    model = get_model("mockllm/model", custom_outputs=made)
    options = {"log_dir": str(tmp_path), "display": "none", "max_samples": 1, "max_connections": 1}
    (log,) = inspect_ai.eval(task, model=model, **options)
    expected = textgauge.metric("chrf")(OUTPUTS, REFERENCES).values
    assert [sample.scores["chrf"].value for sample in log.samples] == pytest.approx(expected.tolist())
    assert textgauge.data.load_texts(log.location, column="text").texts == tuple(OUTPUTS)


def test_mlflow_scores_outputs_with_the_expected_response():
    pytest.importorskip("mlflow", reason="needs the extra mlflow")
    scorer = integrations.make_mlflow_scorer("chrf")
    assert scorer.name == "chrf"
    found = scorer.run(outputs=OUTPUTS[1], expectations={"expected_response": REFERENCES[1]})
    assert found == float(textgauge.metric("chrf")(OUTPUTS[1], REFERENCES[1]))


def test_deepeval_measures_test_cases_and_passes_at_the_threshold():
    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    pytest.importorskip("deepeval", reason="needs the extra deepeval")
    from deepeval.test_case import LLMTestCase

    case = LLMTestCase(input="?", actual_output=OUTPUTS[1], expected_output=REFERENCES[1])
    found = integrations.make_deepeval_metric("ter", threshold=0.2)
    assert found.measure(case) == float(textgauge.metric("ter")(OUTPUTS[1], REFERENCES[1])) == 1.0
    assert not found.is_successful()  # less is closer
    assert integrations.make_deepeval_metric("chrf", threshold=0.1).measure(case) > 0.1


@pytest.fixture
def server(tmp_path):
    pytest.importorskip("mcp", reason="needs the extra mcp")
    from textgauge.cli.mcp import make_server

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "scores.csv").write_text("item,a,b\n" + "".join(f"{n},{n % 2},{n % 3}\n" for n in range(20)))
    (tmp_path / "in" / "out.txt").write_text("\n".join(OUTPUTS))
    (tmp_path / "secret.txt").write_text("\n".join(REFERENCES))
    return make_server(tmp_path / "in")


def test_agents_call_tools_on_files_below_the_folder(server):
    from mcp import Client

    async def ask():
        async with Client(server) as client:
            listed = await client.list_tools()
            board = await client.call_tool("leaderboard", {"scores": ["scores.csv"]})
            scores = await client.call_tool("score", {"texts": "out.txt", "references": "out.txt"})
            outside = await client.call_tool("describe", {"texts": "../secret.txt"})
            return {tool.name for tool in listed.tools}, board, scores, outside

    names, board, scores, outside = asyncio.run(ask())
    assert names == {"compare", "score", "describe", "leaderboard"}
    assert json.loads(board.content[0].text)["answer"].startswith("First: b")
    assert json.loads(scores.content[0].text)["summary"][0]["mean"] == 1.0
    assert outside.is_error
    assert "below the folder" in outside.content[0].text


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "link.txt", "none.txt", "sample:cooking", "-"])
def test_files_outside_the_folder_are_refused(name, tmp_path):
    from textgauge.cli.mcp import resolve_below

    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(InputError, match="below the folder"):
        resolve_below(tmp_path / "in", name)


def test_results_are_arrow_streams_and_streams_are_frames():
    import polars

    board = textgauge.leaderboard({"item": range(9), "a": range(9), "b": [3, 1, 4, 1, 5, 9, 2, 6, 5]})
    assert polars.DataFrame(board)["system"].to_list() == ["a", "b"] == [row.system for row in board]
    duckdb = pytest.importorskip("duckdb", reason="reads a relation of DuckDB")
    relation = duckdb.sql("select unnest(range(9)) as item, unnest(range(9)) as a, 3.0 as b")
    assert textgauge.leaderboard(relation)["a"].score == 4.0
    texts = duckdb.sql("select unnest(['one cat', 'a dog', 'no cow']) as text, 1 as n")
    assert textgauge.data.load_corpus(texts).texts == ("one cat", "a dog", "no cow")
