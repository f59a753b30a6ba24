"""The site on the loopback interface: as it was built, and again after every change, which the pages in the browser follow."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Generator
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from acpgen.errors import Faults, SiteNotBuilt

ROUND: Final = "/.acpgen/round"
"""Where a page asks which build is served. No file of a site has this path."""

NOT_FOUND: Final = "404.html"

_FOLLOWING: Final = """<script>
setInterval(async () => {{
  try {{
    const answer = await fetch("{path}", {{cache: "no-store"}});
    if (answer.ok && await answer.text() !== "{now}") location.reload();
  }} catch {{ /* the server has ended */ }}
}}, 500);
</script>
"""
"""What a page that follows the builds does: it asks twice a second."""


@contextlib.contextmanager
def served(folder: Path, port: int = 0, built: Callable[[], int] | None = None) -> Generator[str]:
    """Serve a folder on the loopback interface alone, on any free port or a given one. What is missing is answered with its `404.html`.

    With `built`, the number of builds so far, pages load again when it has changed. Raises `Faults`.
    """
    handler = functools.partial(_Handler, directory=str(folder), built=built)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        fault = SiteNotBuilt(
            at=f"port {port}", reason=f"it cannot be used ({error.strerror})", remedy="Give another: --port N"
        )
        raise Faults([fault]) from None
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


class _Handler(SimpleHTTPRequestHandler):
    """Serves files without a word on standard error."""

    def __init__(self, *args: Any, built: Callable[[], int] | None, **named: Any) -> None:
        self._built = built
        super().__init__(*args, **named)

    def do_GET(self) -> None:
        """Answer with the number of builds, a page, or another file."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Answer as to GET, without the body."""
        self._answer(with_body=False)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer with the site's own page where a file is missing, otherwise as the base class does."""
        missing = Path(self.directory, NOT_FOUND)
        if code == HTTPStatus.NOT_FOUND and missing.is_file():
            self._send_page(missing, code, with_body=self.command != "HEAD")
        else:
            super().send_error(code, message, explain)

    def _answer(self, *, with_body: bool) -> None:
        path = urlsplit(self.path).path
        if path == ROUND and self._built is not None:
            self._send(str(self._built()).encode(), "text/plain", HTTPStatus.OK, with_body=with_body)
            return
        page = Path(self.translate_path(self.path))
        if path.endswith("/"):
            page /= "index.html"
        if page.suffix == ".html" and page.is_file():
            self._send_page(page, HTTPStatus.OK, with_body=with_body)
        elif with_body:
            super().do_GET()
        else:
            super().do_HEAD()

    def _send_page(self, page: Path, code: int, *, with_body: bool) -> None:
        """A page, which follows the builds. Their number is taken first: a build meanwhile makes the page load again."""
        script = "" if self._built is None else _FOLLOWING.format(path=ROUND, now=self._built())
        try:
            text = page.read_bytes()
        except OSError as error:
            super().send_error(HTTPStatus.NOT_FOUND, error.strerror)
            return
        head, end, tail = text.rpartition(b"</body>")
        content = head + script.encode() + end + tail if end else text + script.encode()
        self._send(content, "text/html; charset=utf-8", code, with_body=with_body)

    def _send(self, content: bytes, kind: str, code: int, *, with_body: bool) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if with_body:
            self.wfile.write(content)
