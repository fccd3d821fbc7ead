"""Stands before the application: who may ask, how large a body may be, how long it may take to come, and what was counted."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mercer._serving.limits import Limits
from mercer._serving.metrics import Metrics
from mercer._serving.problems import Refused

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::\d*)?")
_SAFE = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Hosts:
    """Under which names the server may be called.

    Pages of other sites reach a local server by a name of theirs that they let point to it (DNS rebinding). They cannot with an
    address, nor with `localhost`; all other names have to be given.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = frozenset(name.casefold().rstrip(".") for name in (*names, "localhost"))
        self._known: dict[bytes, bool] = {}

    def allow(self, host: bytes) -> bool:
        """Whether this may stand in the header of the name Host."""
        if host not in self._known:
            if len(self._known) > 100:
                self._known.clear()
            self._known[host] = self._look(host)
        return self._known[host]

    def _look(self, host: bytes) -> bool:
        found = _HOST.fullmatch(host.decode("latin-1"))
        if found is None:
            return False
        name = found[1].casefold().rstrip(".")
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return name in self._names
        return True


class Guard:
    """An application within limits."""

    def __init__(self, app: App, limits: Limits, metrics: Metrics, hosts: Hosts, paths: frozenset[str]) -> None:
        self._app, self._limits, self._metrics, self._hosts, self._paths = app, limits, metrics, hosts, paths

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        start, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_SAFE]
            await send(message)

        self._metrics.n_open += 1
        try:
            self._check(scope)
            body = await self._body(receive)
            if body is not None:
                await self._app(scope, _replay(body, receive), sending)
        except Refused as refusal:
            await answer(refusal, sending)
        finally:
            self._metrics.n_open -= 1
            path = scope["path"] if scope["path"] in self._paths else "other"
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.ended(method, path, status, time.perf_counter() - start)

    def _check(self, scope: MutableMapping[str, Any]) -> None:
        """Refuse by the head alone."""
        hosts = 0
        for name, value in scope["headers"]:
            if name == b"host":
                hosts += 1
                if not self._hosts.allow(value):
                    shown = value.decode("latin-1")[:80]
                    raise Refused(
                        421, f"Host {shown!r}: this server is not called so. `mercer serve --allow-host` names others."
                    )
            elif name == b"content-length":
                if value.isdigit() and int(value[:20]) > self._limits.body:
                    raise self._too_large()
            elif name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
                raise Refused(415, "Content-Encoding: bodies are taken as they are, not packed.")
            elif name == b"sec-fetch-site" and value == b"cross-site" and scope["method"] not in ("GET", "HEAD"):
                raise Refused(403, "Pages of other sites may not send requests to this server.")
        if hosts != 1:
            raise Refused(400, "A request must have one header Host.")

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body; None where the client has gone."""
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.read_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    part: bytes = message.get("body", b"")
                    if not parts and not message.get("more_body"):
                        if len(part) > self._limits.body:
                            raise self._too_large()
                        return part
                    parts.append(part)
                    size += len(part)
                    if size > self._limits.body:
                        raise self._too_large()
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            raise Refused(408, f"The body did not come within {self._limits.read_seconds:g} seconds.") from None

    def _too_large(self) -> Refused:
        return Refused(413, f"The body is larger than the {self._limits.body:,} bytes that it may have.")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives the body that was read, and then what comes after it."""
    is_given = False

    async def replay() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def answer(refusal: Refused, send: Send) -> None:
    """A refusal before the application was asked; what is left of the body is not waited for."""
    body = json.dumps(refusal.to_dict()).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
