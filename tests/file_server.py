"""A server of files on loopback, whose line may break."""

import hashlib
from http.server import BaseHTTPRequestHandler

from loopback import LoopbackServer


class FileServer(LoopbackServer):
    """Serve files by path, with ranges; `cuts` lists after how many bytes a reply breaks off."""

    def __init__(self, files, *, cuts=(), statuses=(), ranges=True):
        self.files, self.cuts, self.statuses = files, list(cuts), list(statuses)
        self.ranges, self.asked = ranges, []


class _Handler(BaseHTTPRequestHandler):
    served: FileServer

    def log_message(self, *given):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        served = self.served
        asked = self.headers.get("Range")
        served.asked.append((self.command, self.path, asked))
        body = served.files.get(self.path.partition("?")[0].lstrip("/"))
        status = served.statuses.pop(0) if served.statuses else 200 if body is not None else 404
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and served.ranges else 0
        if status == 200 and start:
            status = 206 if start < len(body) else 416
        body = body[start:] if status in (200, 206) else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        # What the Hub says of a file, too.
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.end_headers()
        if self.command == "GET":
            cut = served.cuts.pop(0) if served.cuts else None
            self.wfile.write(body[:cut])
            self.close_connection = True


FileServer.handler = _Handler
