"""A server for the site on the loopback interface. A page in the browser reloads only when it changes."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import threading
from collections.abc import Callable, Generator
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias
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

TextSource: TypeAlias = Callable[[str], "str | None"]
"""The text to serve at a path of a site instead of a file; `None` if the file is to be served."""


@contextlib.contextmanager
def serve_folder(folder: Path, port: int = 0, find_text: TextSource | None = None) -> Generator[str]:
    """Serve a folder on the loopback interface only, on the given port or any free one. Missing files are answered with its `404.html`.

    With `find_text`, the folder may change: pages reload when they differ. Raises `Faults`.
    """
    handler = partial(_Handler, directory=str(folder), find_text=find_text)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a port is from 0 to 65535"
        fault = SITE_NOT_BUILT(
            at=f"port {port}", reason=f"it cannot be used ({reason})", remedy="Give another: --port N"
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

    extensions_map = {  # noqa: RUF012 - the base class declares it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".json": "application/json",
        ".md": "text/markdown",
        ".xml": "application/xml",
    }

    def __init__(self, *args: Any, find_text: TextSource | None, **options: Any) -> None:
        self._find_text = find_text
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

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer with the site's own page if a file is missing, otherwise as the base class does."""
        missing = Path(self.directory, NOT_FOUND)
        if code == HTTPStatus.NOT_FOUND and missing.is_file():
            content = self._send_head(self._follow(missing), "text/html", code)
            if self.command != "HEAD":
                self.wfile.write(content.read())
        else:
            super().send_error(code, message, explain)

    def send_head(self) -> Any:
        """Send the head of the answer with the state of a page, a text beside the folder, a page, or another file; return its body."""
        path = urlsplit(self.path).path
        is_state = self._find_text is not None and path.startswith(f"{STATE}/")
        page = Path(self.translate_path(path.removeprefix(STATE) if is_state else path))
        page = page / "index.html" if path.endswith("/") else page
        is_page = page.suffix == ".html" and page.is_file()
        if is_state:
            page = page if is_page else Path(self.directory, NOT_FOUND)
            text = self._read(page)
            if text:
                return self._send_head(self._hash_state(page, text).encode(), "text/plain", charset="")
            return super().send_error(HTTPStatus.SERVICE_UNAVAILABLE)  # it is being written
        found_text = self._find_text(unquote(path).lstrip("/")) if self._find_text is not None else None
        if found_text is not None:
            return self._send_head(found_text.encode(), self.guess_type(path))
        return self._send_head(self._follow(page), "text/html") if is_page else super().send_head()

    def _send_head(
        self, content: bytes, kind: str, code: int = HTTPStatus.OK, charset: str = "; charset=utf-8"
    ) -> BinaryIO:
        self.send_response(code)
        self.send_header("Content-Type", f"{kind}{charset}")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        return io.BytesIO(content)

    def _read(self, file: Path) -> bytes:
        """The content of a file; empty if there is none."""
        with contextlib.suppress(OSError):
            return file.read_bytes()
        return b""

    def _hash_state(self, page: Path, text: bytes) -> str:
        """The hash of a page and of the style sheets and scripts that it loads."""
        digest = hashlib.sha256(text)
        for path in (unquote(match.decode()) for match in _LOADED.findall(text)):
            folder = Path(self.directory) if path.startswith("/") else page.parent
            digest.update(self._read(folder / path.lstrip("/")))
        return digest.hexdigest()

    def _follow(self, page: Path) -> bytes:
        """The text of a page, with the reload script if the folder may change."""
        text = self._read(page)
        if self._find_text is None:
            return text
        script = _FOLLOWING.format(path=STATE, now=self._hash_state(page, text)).encode()
        head, end, tail = text.rpartition(b"</body>")
        return head + script + end + tail if end else text + script
