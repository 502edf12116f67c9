"""The page of a review, on this machine alone: 127.0.0.1, a random token in every address, no other origin.

Every cell of the data reaches the page as JSON and is put there as text; the page's policy runs its own
script and nothing else. A decision is on the disk before it is answered. The corrected file is written
beside, by one writer that always writes the newest state, whole.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import threading
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dataworth.errors import DataworthError
from dataworth.report.page import asset
from dataworth.report.views import document, report

from .rows import type_of
from .session import MAX_BATCH, Session

ADDRESS = "127.0.0.1"
MAX_BODY = 1 << 16
"""Bytes of a request."""
TIMEOUT = 60
"""Seconds that a connection may say nothing."""
SILENT = "default-src 'none'; sandbox"
"""The policy of what is no page: images, answers."""
COMMON = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@cache
def page() -> tuple[bytes, str]:
    """The page, and its policy, by the hashes of its own style and script."""
    html = files("dataworth.review").joinpath("page.html").read_text(encoding="utf-8")
    html = html.replace("/* page.css */", asset("page.css"))

    def hashed(tag: str) -> str:
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    policy = (
        f"default-src 'none'; script-src 'sha256-{hashed('script')}'; style-src 'sha256-{hashed('style')}'; "
        "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return html.encode(), policy


class Server:
    """A review that is served until it is finished."""

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session, self.token = session, secrets.token_urlsafe(24)
        self.dirty, self.ended = threading.Event(), threading.Event()
        self.failure: DataworthError | None = None
        try:
            self.http = ThreadingHTTPServer((ADDRESS, port), handler(self))
        except (OSError, OverflowError) as error:
            raise DataworthError(f"port {port} cannot be used ({error}): give another with --port.") from None
        self.http.daemon_threads = True
        self.threads = [
            threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True),
            threading.Thread(target=self._write, daemon=True),
        ]

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.http.server_port}/{self.token}/"

    def start(self) -> None:
        """Serve, beside what else this process does."""
        for one in self.threads:
            one.start()

    def wait(self) -> None:
        """Until somebody ends the review on the page."""
        while not self.ended.wait(0.5):  # short, so that Ctrl-C is heard on every system
            pass

    def stop(self) -> None:
        """End: what was decided is in the corrected file."""
        self.http.shutdown()
        self.http.server_close()
        self.ended.set()
        self.dirty.set()
        self.threads[1].join()
        self.session.close()

    def _write(self) -> None:
        """Write the corrected file whenever there is something new; a full disk is told on the page."""
        while self.dirty.wait() and not self.ended.is_set():
            self.dirty.clear()
            try:
                self.session.save()
                self.failure = None
            except DataworthError as error:
                self.failure = error

    # what the page asks for

    def get(self, path: str, asked: dict[str, list[str]]) -> Any:
        """The answer to a question; None if there is no such thing."""
        number = {name: int(one[0]) for name, one in asked.items() if re.fullmatch("[0-9]{1,9}", one[0])}
        if path == "about":
            return self.session.about()
        if path == "state":
            return self.state()
        if path == "rows":
            return self.session.batch(number.get("at", 0), number.get("n", MAX_BATCH))
        return None

    def state(self) -> dict[str, Any]:
        """Of the session, and whether the corrected file can be written."""
        return {**self.session.state(), "failure": None if self.failure is None else str(self.failure)}

    def post(self, path: str, told: dict[str, Any]) -> Any:
        """Do something, and tell the new state."""
        row = None
        if path == "decide":
            after, who = told.get("after"), told.get("who")
            if not isinstance(after, str | None) or not isinstance(who, str | None):
                raise DataworthError("a label and a name are texts.")
            self.session.decide(told.get("row"), after, who)  # type: ignore[arg-type]
        elif path == "undo":
            row = self.session.undo()
        elif path == "audit":
            self.audit()
        elif path == "finish":
            self.ended.set()
        else:
            return None
        self.dirty.set()
        return {**self.state(), "undone": row}

    def audit(self) -> None:
        """Audit the corrections beside; one at a time."""
        with self.session.guard:
            if self.session.audit["state"] != "running":
                self.session.audit = {"state": "running"}
                threading.Thread(target=self._audit, daemon=True).start()

    def _audit(self) -> None:
        try:
            found = self.session.judge()
            self.session.report = report(found, ".html")
            told = {"state": "done", **summary(found), "changed": len(self.session.changed)}
        except DataworthError as error:
            told = {"state": "refused", "why": str(error)}
        except Exception as error:  # a thread has nobody else to tell
            told = {
                "state": "refused",
                "why": f"this is a bug, please report it: {type(error).__name__}: {error}",
            }
        self.session.audit = told


def summary(found: Any) -> dict[str, Any]:
    """What the page says of an audit."""
    told = document(found)
    answer = told.answer
    sentence = answer.sentence if isinstance(answer.sentence, str) else "".join(answer.sentence)
    return {
        "verdict": answer.word,
        "tone": answer.tone,
        "sentence": sentence,
        "short": told.short,
        "meaning": answer.meaning or "",
        "notes": list(found.notes),
    }


def handler(server: Server) -> type[BaseHTTPRequestHandler]:
    """The class that answers requests of one server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version, sys_version = "dataworth", ""
        timeout = TIMEOUT

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: addresses have the token."""

        def do_GET(self) -> None:
            """The page, an image, the report, or an answer."""
            if self.path == "/favicon.ico":  # browsers ask for it, whatever a page says
                return self._send(204, b"", "text/plain", SILENT)
            if (path := self._path()) is None:
                return
            if path == "":
                html, policy = page()
                self._send(200, html, "text/html; charset=utf-8", policy)
            elif re.fullmatch("image/[0-9]{1,9}", path):
                row = int(path.removeprefix("image/")) - 1
                image = server.session.rows.image(row) if 0 <= row < len(server.session.given) else None
                kind = type_of(image)
                self._send(
                    200 if kind else 404, image if kind and image else b"", kind or "text/plain", SILENT
                )
            elif path == "report" and server.session.report is not None:
                self._send(200, server.session.report.encode(), "text/html; charset=utf-8", None)
            else:
                self._answer(lambda: server.get(path, parse_qs(urlsplit(self.path).query)))

        def do_POST(self) -> None:
            """A decision, or another deed; only from the page itself."""
            if (path := self._path()) is None:
                return
            size = self.headers.get("Content-Length", "")
            own = self.headers.get("Origin") in (None, server.url.split(f"/{server.token}")[0])
            if not own or self.headers.get("Content-Type") != "application/json":
                return self._refuse(403, "only the page itself does this")
            if not re.fullmatch("[0-9]{1,6}", size) or int(size) > MAX_BODY:
                return self._refuse(413, "this is too long")
            try:
                told = json.loads(self.rfile.read(int(size)))
                if not isinstance(told, dict):
                    raise ValueError
            except (ValueError, RecursionError):
                return self._refuse(400, "this is no JSON object")
            self._answer(lambda: server.post(path, told))

        def _path(self) -> str | None:
            """The path below the token; None if it is not there, or asked for under another name."""
            host, (_, token, *rest) = (
                self.headers.get("Host", ""),
                [*urlsplit(self.path).path.split("/"), ""][:99],
            )
            right = secrets.compare_digest(token.encode(), server.token.encode())
            if not right or host != f"{ADDRESS}:{server.http.server_port}":
                self._refuse(404, "there is no such page: open the address that the terminal shows")
                return None
            return "/".join(rest).rstrip("/")

        def _answer(self, what: Callable[[], Any]) -> None:
            try:
                told = what()
            except DataworthError as error:
                return self._refuse(400, str(error))
            except OSError as error:
                return self._refuse(
                    500, f"this cannot be written ({error.strerror}): make room, and try again."
                )
            if told is None:
                return self._refuse(404, "there is no such page")
            self._send(200, json.dumps(told).encode(), "application/json", SILENT)

        def _refuse(self, code: int, why: str) -> None:
            self.close_connection = True
            self._send(code, json.dumps({"error": why}).encode(), "application/json", SILENT)

        def _send(self, code: int, body: bytes, kind: str, policy: str | None) -> None:
            self.send_response(code)
            for name, value in {**COMMON, "Content-Type": kind, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            if policy is not None:  # a report has its own
                self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(body)

    return Handler
