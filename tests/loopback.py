"""A server on loopback that a test starts and ends."""

import threading
from http.server import ThreadingHTTPServer


class LoopbackServer:
    """Serve at `url` until the block ends, by a handler that knows the server as `served`."""

    handler = None

    def __enter__(self):
        handler = type("Handler", (self.handler,), {"served": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()
