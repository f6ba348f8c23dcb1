"""A Hub on loopback that serves one dataset repository, a folder, for reading."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from loopback import LoopbackServer

COMMIT = "1" * 40


class ReadOnlyHub(LoopbackServer):
    """Serve the files of `folder` as the repository `repo_id`, until the block ends."""

    def __init__(self, repo_id, folder):
        self.repo_id, self.asked = repo_id, []
        self.files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in Path(folder).rglob("*")
            if path.is_file()
        }

    def entry(self, path):
        content = self.files[path]
        return {"type": "file", "path": path, "size": len(content), "oid": _oid(content)}

    def tree(self, under):
        inside = f"{under}/" if under else ""
        return [self.entry(path) for path in sorted(self.files) if path.startswith(inside)]

    def describe(self):
        return {
            "id": self.repo_id,
            "sha": COMMIT,
            "private": False,
            "gated": False,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "siblings": [{"rfilename": path} for path in sorted(self.files)],
        }


class _Handler(BaseHTTPRequestHandler):
    served: ReadOnlyHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *given):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind = self.headers.get("Content-Type", "")
        asked = json.loads(body) if "json" in kind else parse_qs(body.decode())
        known = [path for path in asked["paths"] if path in self.served.files]
        self._send(json.dumps([self.served.entry(path) for path in known]).encode())

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        self.served.asked.append(f"{self.command} {path}")
        api, files = (
            f"/api/datasets/{self.served.repo_id}",
            f"/datasets/{self.served.repo_id}/resolve/",
        )
        if path.startswith(f"{api}/tree/"):
            under = path.removeprefix(f"{api}/tree/").partition("/")[2]
            self._send(json.dumps(self.served.tree(under)).encode())
        elif path == api or path.startswith(f"{api}/revision/"):
            self._send(json.dumps(self.served.describe()).encode())
        elif path.startswith(files):
            self._send_file(path.removeprefix(files).partition("/")[2])
        else:
            self._send(b"{}", 404, {"X-Error-Code": "RepoNotFound"})

    def _send_file(self, name):
        content = self.served.files.get(name)
        if content is None:
            return self._send(b"{}", 404, {"X-Error-Code": "EntryNotFound"})
        headers = {"ETag": f'"{_oid(content)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        asked = self.headers.get("Range")
        if not asked or self.command == "HEAD":
            return self._send(content, 200, headers)
        start, _, stop = asked.removeprefix("bytes=").partition("-")
        first, last = int(start), min(int(stop or len(content) - 1), len(content) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        return self._send(content[first : last + 1], 206, headers)

    def _send(self, body, status=200, headers=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _oid(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


ReadOnlyHub.handler = _Handler
