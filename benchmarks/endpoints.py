"""A judge and an embedder behind an endpoint that answers in 36 ways: nothing is paid twice, and there is no traceback.

python -m benchmarks.endpoints [WAY]    a way to answer by a part of its name

The endpoint answers some requests well and then in one of the ways; the command ends, and is given again to an endpoint
that answers well. A case is `right` where both print no traceback, the first ends well or with one line, the second
ends well, and asks for nothing that was answered well before; `paid twice` and `noisy` else. A line of
benchmarks/simulated/endpoints.jsonl is kept for each way and kind; `python -m benchmarks.reliability` makes the table.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.faults import child, ended, import_all, is_noisy, said
from benchmarks.simulated import file_of
from benchmarks.trust import keep

KEY = "sk-secret-0123456789abcdef"
GOOD = 6  # requests that are answered well before the others
KINDS = {
    "judge": "score A B -m judge@api:fake -o OUT.json",
    "embedder": "compare A B -m energy@api:fake --no-test -o OUT.json",
}
Answer = tuple[int, dict[str, str], bytes]
Way = Callable[[Any], Answer]


def well(content: Any) -> Answer:
    return 200, {}, json.dumps(content).encode()


def status(code: int, body: bytes = b'{"error": {"message": "not now"}}', **headers: str) -> Way:
    return lambda _: (code, {name.replace("_", "-"): value for name, value in headers.items()}, body)


def says(body: bytes, **headers: str) -> Way:
    return status(200, body, **headers)


def message(content: Any) -> Way:
    """A judge's content, or that in place of the first vector."""

    def answer(good: Any) -> Answer:
        if "choices" in good:
            good["choices"][0]["message"]["content"] = content
        else:
            good["data"][0]["embedding"] = content
        return well(good)

    return answer


def rows(change: Callable[[list[Any]], list[Any]]) -> Way:
    """Another list of choices or vectors."""

    def answer(good: Any) -> Answer:
        name = "choices" if "choices" in good else "data"
        return well({**good, name: change(good[name])})

    return answer


def slow(good: Any) -> Answer:
    time.sleep(2)
    return well(good)


WAYS: dict[str, Way] = {
    **{f"status {code}": status(code) for code in (400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503)},
    **{f"Retry-After: {value}": status(429, Retry_After=value) for value in ("nan", "inf", "-1", "soon", "1e9", "")},
    "a redirect": status(302, Location="http://127.0.0.1:9/"),
    "an empty body": says(b""),
    "no JSON": says(b"<html>busy</html>"),
    "null": says(b"null"),
    "a list": says(b"[1, 2]"),
    "nested deeply": says(b"[" * 100_000),
    "bytes that are no text": says(b"\xff\xfe\x00\x81" * 50),
    "an object without the answer": says(b'{"id": 1}'),
    "content null": message(None),
    "content empty": message(""),
    "content a list": message([]),
    "content a number beyond all": message([1e999]),
    "content in words": message("not a number"),
    "content with the key": message(f"5 {KEY}"),
    "no rows": rows(lambda _: []),
    "one row too many": rows(lambda of: [*of, of[-1]]),
    "packed badly": says(b"no gzip", Content_Encoding="gzip"),
    "packed twice": says(gzip.compress(gzip.compress(b"{}")), Content_Encoding="gzip, gzip"),
    "too late": slow,
    "cut off": says(b'{"data": [', Content_Length="5000"),
}


class Server(ThreadingHTTPServer):
    """Answers well for a while, then in one way; remembers what it answered well."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.way: Way | None = None
        self.asked = 0
        self.paid: list[str] = []
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        good: dict[str, Any]
        if "input" in body:
            items = list(body["input"])
            vectors = ([float(len(text)), *map(float, map(text.count, "aeiourtd"))] for text in items)
            good = {"data": [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]}
        else:
            items = [body["messages"][-1]["content"]]
            good = {"choices": [{"message": {"role": "assistant", "content": "4"}}]}
        with self.server.lock:
            self.server.asked += 1
            is_good = self.server.way is None or self.server.asked <= GOOD
            if is_good:
                self.server.paid += items
        code, headers, answer = well(good) if is_good or self.server.way is None else self.server.way(good)
        try:
            self.send_response(code)
            for name, value in {"content-length": str(len(answer)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            pass

    def log_message(self, *_: object) -> None: ...


def give(server: Server, folder: Path, command: str, way: Way | None) -> tuple[int, str]:
    """Give the command to the endpoint, which answers in that way; its exit code, and what it printed."""
    server.way, server.asked = way, 0

    def prepare() -> None:
        import httpx

        from textgauge.encode import endpoint

        known = httpx.Timeout
        patience = 1.0 if way else 60.0  # shorter than what answers too late; a busy machine may answer well later
        httpx.Timeout = lambda *_, **__: known(patience)  # type: ignore[assignment, misc]
        endpoint.ATTEMPTS, endpoint.LONGEST_WAIT, endpoint.AT_ONCE = 2, 0.05, 1
        address = f"http://127.0.0.1:{server.server_port}/v1"
        os.environ |= {"TEXTGAUGE_API_BASE": address, "TEXTGAUGE_API_KEY": KEY, "NO_PROXY": "127.0.0.1"}
        os.environ.pop("TEXTGAUGE_OFFLINE")

    code = ended(child(command.replace("OUT", "out").split(), folder, prepare))
    return code, said(folder)


def tried(server: Server, kind: str, way: Way) -> str:
    """How a case ended."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = 1_300 if kind == "embedder" else 12
        for file in "AB":
            (folder / file).write_text("\n".join(f"text {file} of number {n}" for n in range(count)))
        server.paid = []
        first, noise = give(server, folder, KINDS[kind], way)
        paid = set(server.paid)
        server.paid = []
        second, more = give(server, folder, KINDS[kind], None)
        if is_noisy(first, noise) or "Traceback" in more or second or KEY in noise + more:
            print(f"{kind}: {first} {noise[-300:]} {second} {more[-300:]}", file=sys.stderr)
            return "noisy"
        kept = b"".join(path.read_bytes() for path in (folder / "cache" / "answers").glob("*"))
        return "paid twice" if paid & set(server.paid) or KEY.encode() in kept else "right"


def main() -> None:
    """Try every way that is asked for, with a judge and an embedder."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    import_all()
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name, way in WAYS.items():
        for kind in KINDS:
            if wanted in name:
                line = {"way": name, "kind": kind, "outcome": tried(server, kind, way)}
                keep(file_of("endpoints"), line, "way", "kind")
                print(line, flush=True)


if __name__ == "__main__":
    main()
