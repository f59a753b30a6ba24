"""A server for the site on the loopback interface. A page in the browser reloads only when it changes."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
import threading
from collections.abc import Callable, Generator
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit

from acpgen.errors import Faults
from acpgen.publish.faults import SITE_NOT_BUILT

STATE: Final = "/.acpgen/state"
"""The path prefix under which a page requests its current state: the hash of the page at the path that follows, and of what it loads.

No file of a site has such a path.
"""

NOT_FOUND: Final = "404.html"

_FOLLOWING: Final = """<script>
setInterval(async () => {{
  try {{
    const answer = await fetch("{path}" + location.pathname, {{cache: "no-store"}});
    if (answer.ok && await answer.text() !== "{now}") location.reload();
  }} catch {{ /* the server has ended */ }}
}}, 200);
</script>
"""
"""The script that reloads a page when it changes: it asks five times a second."""

_HOST: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?", re.IGNORECASE)
"""The accepted values of `Host`. A foreign page whose name resolves to this machine (DNS rebinding) sends its own name."""

_LOADED: Final = re.compile(rb'(?:src|href)="([^":?#]+\.(?:css|js))"')
"""The style sheets and scripts of a page."""

_KINDS: Final = {
    "js": "text/javascript",
    "json": "application/json",
    "md": "text/markdown",
    "xml": "application/xml",
}

Beside: TypeAlias = Callable[[str], "str | None"]
"""The text to serve at a path of a site instead of a file; `None` if the file is to be served."""


@contextlib.contextmanager
def serve_folder(folder: Path, port: int = 0, beside: Beside | None = None) -> Generator[str]:
    """Serve a folder on the loopback interface only, on the given port or any free one. Missing files are answered with its `404.html`.

    With `beside`, the folder may change: pages reload when they differ. Raises `Faults`.
    """
    handler = functools.partial(_Handler, directory=str(folder), beside=beside)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        fault = SITE_NOT_BUILT(
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
    """A handler that serves files without logging to standard error."""

    def __init__(self, *args: Any, beside: Beside | None, **options: Any) -> None:
        self._beside = beside
        super().__init__(*args, **options)

    def parse_request(self) -> bool:
        """Read the head of a request; whether it is to be answered. A request whose `Host` is not this machine is refused."""
        if not super().parse_request():
            return False
        hosts = self.headers.get_all("Host", [])
        if len(hosts) == 1 and _HOST.fullmatch(hosts[0].strip()):
            return True
        self.send_error(HTTPStatus.MISDIRECTED_REQUEST, explain="Ask for localhost or 127.0.0.1.")
        return False

    def do_GET(self) -> None:
        """Answer with the state of a page, a page, or another file."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Answer as to GET, without the body."""
        self._answer(with_body=False)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer with the site's own page if a file is missing, otherwise as the base class does."""
        missing = Path(self.directory, NOT_FOUND)
        if code == HTTPStatus.NOT_FOUND and missing.is_file():
            self._send_page(missing, code, with_body=self.command != "HEAD")
        else:
            super().send_error(code, message, explain)

    def _answer(self, *, with_body: bool) -> None:
        path = urlsplit(self.path).path
        if self._beside is not None and path.startswith(f"{STATE}/"):
            self._send_state(path.removeprefix(STATE), with_body=with_body)
            return
        page = self._page(path)
        text = self._beside(unquote(path).lstrip("/")) if self._beside is not None else None
        if text is not None:
            self._send(text.encode(), _find_content_type(path), HTTPStatus.OK, with_body=with_body)
        elif page is not None:
            self._send_page(page, HTTPStatus.OK, with_body=with_body)
        elif with_body:
            super().do_GET()
        else:
            super().do_HEAD()

    def _page(self, path: str) -> Path | None:
        """The file of the page at a path; `None` if there is none."""
        page = Path(self.translate_path(path))
        if path.endswith("/"):
            page /= "index.html"
        return page if page.suffix == ".html" and page.is_file() else None

    def _send_state(self, path: str, *, with_body: bool) -> None:
        """Send the state of the page at a path; without a page, the state of the page for missing files."""
        page = self._page(path) or Path(self.directory, NOT_FOUND)
        try:
            text = page.read_bytes()
        except OSError:
            text = b""
        if not text:  # it is being written
            super().send_error(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        self._send(self._state(page, text).encode(), "text/plain", HTTPStatus.OK, with_body=with_body)

    def _state(self, page: Path, text: bytes) -> str:
        """The hash of a page and of the style sheets and scripts that it loads."""
        digest = hashlib.sha256(text)
        for match in _LOADED.findall(text):
            path = unquote(match.decode())
            with contextlib.suppress(OSError):
                digest.update(
                    Path(self.directory if path.startswith("/") else page.parent, path.lstrip("/")).read_bytes()
                )
        return digest.hexdigest()

    def _send_page(self, page: Path, code: int, *, with_body: bool) -> None:
        """Send a page, with the reload script if the folder may change."""
        try:
            text = page.read_bytes()
        except OSError as error:
            super().send_error(HTTPStatus.NOT_FOUND, error.strerror)
            return
        script = "" if self._beside is None else _FOLLOWING.format(path=STATE, now=self._state(page, text))
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


def _find_content_type(path: str) -> str:
    """The content type of a text file by the suffix of its path."""
    suffix = path.rpartition(".")[2]
    return f"{_KINDS.get(suffix, 'text/plain')}; charset=utf-8"
