from __future__ import annotations

import time
from base64 import b64encode
from types import SimpleNamespace

import numpy as np
import pytest

from textgauge.core.errors import ResourceError
from textgauge.data.cache import encode_cached
from textgauge.encode.endpoint import ATTEMPTS, ApiEmbedder, Chat

KEY = "secret-key-of-the-test"


def usual(request):
    rows = [{"index": index, "embedding": [float(len(text)), 0.5]} for index, text in enumerate(request["input"])]
    return {"data": rows[::-1], "model": "m"}


@pytest.fixture
def server(endpoint, monkeypatch):
    endpoint.usual = usual
    monkeypatch.setenv("TEXTGAUGE_API_BASE", f"{endpoint.address}/v1/")
    monkeypatch.setenv("TEXTGAUGE_API_KEY", KEY)
    return endpoint


@pytest.fixture
def pauses(monkeypatch):
    found = []
    monkeypatch.setattr("textgauge.encode.endpoint.time", SimpleNamespace(sleep=found.append, monotonic=time.monotonic))
    return found


@pytest.fixture
def encoder(pauses):
    return ApiEmbedder("small")


def test_batches_are_put_in_order(server, encoder, counts):
    texts = ["a", "bb", "", "dddd", "e\ud800"]
    vectors = encoder.encode(texts, batch_size=2)
    assert vectors.dtype == np.float32
    assert vectors[:, 0].tolist() == [1, 2, 1, 4, 2]
    assert counts == [(2, 5), (4, 5), (5, 5)]
    assert [request["input"] for request in server.requests] == [["a", "bb"], [" ", "dddd"], ["e\ufffd"]]
    assert {request["path"] for request in server.requests} == {"/v1/embeddings"}
    assert encoder.dimension == 2
    assert encoder.encode([]).shape == (0, 2)


def test_busy_servers_are_asked_again(server, encoder, pauses):
    server.prescribed = [(429, {"retry-after": "7"}, "slow down"), (503, {}, ""), (500, {"retry-after": "soon"}, "")]
    server.prescribed += [(429, {"retry-after": "nan"}, "")]
    assert encoder.encode(["abc"]).tolist() == [[3, 0.5]]
    assert pauses == [7, 1, 2, 4]


@pytest.mark.parametrize(("status", "asked"), [(500, ATTEMPTS), (401, 1)])
def test_a_server_that_stays_away_is_asked_again_and_a_refusal_is_not(server, encoder, pauses, status, asked):
    server.prescribed = [(status, {}, f"bad key {KEY}")] * ATTEMPTS
    with pytest.raises(ResourceError, match=f"status {status} from 127") as caught:
        encoder.encode(["a"])
    assert KEY not in str(caught.value)
    assert len(pauses) == asked - 1


def test_without_a_key_nothing_is_sent_to_openai(monkeypatch, encoder):
    for name in ("TEXTGAUGE_API_BASE", "OPENAI_BASE_URL", "TEXTGAUGE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ResourceError, match="needs a key: set TEXTGAUGE_API_KEY"):
        encoder.encode(["a"])


def test_offline_only_this_machine_is_asked(monkeypatch, server, encoder):
    monkeypatch.setenv("TEXTGAUGE_OFFLINE", "1")
    assert encoder.encode(["abc"]).tolist() == [[3, 0.5]]
    monkeypatch.setenv("TEXTGAUGE_API_BASE", "http://user:secret@192.0.2.1/v1")
    with pytest.raises(
        ResourceError, match=r"not asked: TEXTGAUGE_OFFLINE is set, and 192.0.2.1/v1 is another machine"
    ):
        encoder.encode(["abc"])


def test_no_server_at_all(monkeypatch, encoder):
    monkeypatch.setenv("TEXTGAUGE_API_BASE", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(ResourceError, match="did not answer: ConnectError"):
        encoder.encode(["a"])


@pytest.mark.parametrize(
    "answer",
    [
        "not json",
        [],
        {"error": "none"},
        {"data": []},
        {"data": [{"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]},
        {"data": [{"index": index, "embedding": [1.0]} for index in range(3)]},
        {"data": [{"index": index, "embedding": []} for index in range(2)]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [float("nan")]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": ["x"]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": None}]},
        {"data": [{"index": index, "embedding": ["1", "2"]} for index in range(2)]},
        {"data": [{"index": index, "embedding": [True, False]} for index in range(2)]},
        {"data": [{"index": index, "embedding": [1e300, 1]} for index in range(2)]},
        "[" * 100_000,
    ],
)
def test_wrong_answers_are_refused(server, encoder, answer):
    server.prescribed = [(200, {}, answer)]
    with pytest.raises(ResourceError, match="api:small answered"):
        encoder.encode(["a", "b"])


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (200, {"content-encoding": "gzip"}, "did not answer: DecodingError from 127"),
        (200, {"content-encoding": "gzip, gzip"}, "packed twice"),
        (400, {"content-type": "text/plain; charset=rot13"}, "status 400 from 127.0.0.1: oops"),
    ],
)
def test_answers_that_cannot_be_unpacked_are_one_line(server, encoder, status, headers, said):
    server.prescribed = [(status, headers, "oops")] * ATTEMPTS
    with pytest.raises(ResourceError, match=said):
        encoder.encode(["a"])


def test_an_answer_is_neither_too_large_nor_too_slow(server, encoder, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_MAX_ANSWER_BYTES", "9")
    with pytest.raises(ResourceError, match="TEXTGAUGE_MAX_ANSWER_BYTES allows more"):
        encoder.encode(["a"])
    monkeypatch.delenv("TEXTGAUGE_MAX_ANSWER_BYTES")
    monkeypatch.setattr("textgauge.encode.endpoint.LONGEST_ANSWER", -1)
    with pytest.raises(ResourceError, match="did not end its answer within"):
        encoder.encode(["a"])


def test_batches_of_different_dimensions_are_refused(server, encoder):
    server.prescribed = [None, (200, {}, {"data": [{"index": 0, "embedding": [1.0]}]})]
    with pytest.raises(ResourceError, match="different dimensions"):
        encoder.encode(["a", "b"], batch_size=1)


def test_the_key_is_sent_and_never_shown(server, encoder):
    encoder.encode(["a"])
    assert server.requests[0]["key"] == f"Bearer {KEY}"
    assert KEY not in encoder.identity + repr(encoder)
    assert encoder.identity == f"api:small(base=127.0.0.1:{server.server_port}/v1,dtype=float32)"


def test_a_password_of_the_address_is_never_shown(server, encoder, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_API_BASE", f"http://me:pass%2Fword@127.0.0.1:{server.server_port}/v1")
    assert encoder.identity == f"api:small(base=127.0.0.1:{server.server_port}/v1,dtype=float32)"
    basic = b64encode(b"me:pass/word").decode()
    server.prescribed = [(401, {}, f"no Basic {basic}, no pass/word, no http://me:pass%2Fword@host, sorry")]
    with pytest.raises(ResourceError, match="no Basic … no … no … sorry"):
        encoder.encode(["one"])
    assert server.requests[0]["key"] == f"Basic {basic}"


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_a_password_of_a_proxy_is_never_shown(server, encoder, monkeypatch, scheme):
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("ALL_PROXY", f"{scheme}me:password@127.0.0.1:{server.server_port}")
    server.prescribed = [(407, {}, f"no Basic {b64encode(b'me:password').decode()}, no password, sorry")]
    with pytest.raises(ResourceError, match="no Basic … no … sorry"):
        encoder.encode(["one"])


@pytest.mark.parametrize(
    "address",
    ["http://me:password@host:port", "http://me:password@host:99999", "http://me:password@[::1", "me:password@host",
     "ftp://me:password@host", "http://", "http://me:pass\nword@host", "http://me:password@a..b/"],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_repeating_it(address, encoder, pauses, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_API_BASE", address)
    with pytest.raises(ResourceError) as caught:
        encoder.encode(["one"])
    assert "word" not in str(caught.value)
    assert pauses == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *(("TEXTGAUGE_API_KEY", key) for key in ("clé", "two words", "line\n", "\udcff")),
        *(("ALL_PROXY", proxy) for proxy in ("foo://me:password@host", "http://me:password@host:port")),
    ],
)
def test_what_is_no_key_or_proxy_is_refused_without_repeating_it(variable, value, server, encoder, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ResourceError, match=r"TEXTGAUGE_API_KEY|proxy of the environment") as caught:
        encoder.encode(["one"])
    assert value not in str(caught.value)
    assert "password" not in str(caught.value)
    assert not server.requests


def test_what_was_paid_for_is_kept_request_by_request(server, encoder, tmp_path):
    texts = [f"text {number}" for number in range(200)]
    answers = iter([usual, usual])

    def break_down(request):
        return next(answers, lambda _: {"data": []})(request)

    server.usual = break_down
    with pytest.raises(ResourceError):
        encode_cached(encoder, texts, cache_dir=tmp_path)
    server.usual = usual
    assert encode_cached(encoder, texts, cache_dir=tmp_path).shape == (200, 2)
    answered = [request["input"] for request in (*server.requests[:2], *server.requests[3:])]
    assert sorted(text for batch in answered for text in batch) == sorted(texts)


@pytest.mark.parametrize("content", [None, "", ["SCORE: 5"], f"the key is {KEY}", f"it ends with {KEY[-8:]}"])
def test_answers_that_are_empty_or_repeat_the_key_are_not_kept_on_disk(server, content, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTGAUGE_CACHE", str(tmp_path))
    monkeypatch.delenv("TEXTGAUGE_NO_CACHE", raising=False)
    server.usual = lambda _: {"choices": [{"message": {"content": content}}]}
    chat = Chat.named("api:small")
    assert chat.ask(None, ["how similar?"]) == [content if isinstance(content, str) else ""]
    server.usual = lambda _: {"choices": [{"message": {"content": "SCORE: 5"}}]}
    assert chat.ask(None, ["how similar?"]) == chat.ask(None, ["how similar?"]) == ["SCORE: 5"]
    assert len(server.requests) == 2
    assert not any(KEY[-8:] in file.read_text() for file in tmp_path.rglob("*.jsonl"))
