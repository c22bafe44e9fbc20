"""Servers on this machine that stand in for others."""

import json
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

HERE = ("127.0.0.1", 0)


@contextmanager
def serve(server):
    """Let a server answer until the block ends; gives its address."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def serve_folder(folder):
    """Serve the files of a folder."""
    return serve(ThreadingHTTPServer(HERE, partial(_Files, directory=str(folder))))


class Endpoint(ThreadingHTTPServer):
    """Answers as is prescribed for the next requests, then as `usual` says: content, or status, headers and content."""

    def __init__(self, usual=dict):
        super().__init__(HERE, _Answers)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.requests, self.prescribed, self.usual = [], [], usual


class _Answers(BaseHTTPRequestHandler):
    def do_POST(self):
        sent = self.rfile.read(int(self.headers["content-length"])).decode()
        body = json.loads(sent) if sent[:1] == "{" else {name: value for name, (value,) in parse_qs(sent).items()}
        self.server.requests.append({"path": self.path, "key": self.headers["authorization"], **body})
        answer = self.server.prescribed.pop(0) if self.server.prescribed else None
        answer = answer or self.server.usual(body)
        status, headers, content = answer if isinstance(answer, tuple) else (200, {}, answer)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content.encode() if isinstance(content, str) else json.dumps(content).encode())

    def log_message(self, *args):
        pass
