"""The server: a socket, uvicorn with slow clients cut, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import math
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from mercer._runs.errors import RunError
from mercer._serving.guard import App
from mercer._serving.limits import Limits

_BACKLOG = 1024


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens, or why there is none."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (socket.gaierror, UnicodeError, OverflowError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise RunError(f"--host {host}: there is no such address ({words}).") from None
    found = socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":  # where it would let two servers share a port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(_BACKLOG)
        found.setblocking(False)
    except (OSError, OverflowError) as error:
        found.close()
        words = getattr(error, "strerror", None) or str(error)
        hint = "Name another; --port 0 takes any that is free."
        raise RunError(f"--port {port}: the server cannot listen at {host}:{port} ({words}). {hint}") from None
    return found


def address_of(found: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = found.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def run(app: App, found: socket.socket, limits: Limits, told: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; requests in flight are answered then. `told` is called when requests are taken."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http=timed(AutoHTTPProtocol, limits),
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=math.ceil(limits.seconds + limits.read_seconds),
        backlog=_BACKLOG,
    )
    server = _Server(config, told)
    gc.collect()
    gc.freeze()  # the model and what was imported are for good: looking through them again would hold requests up
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(server.serve(sockets=[found]))


class _Server(uvicorn.Server):
    """Says when it listens, and ends as a command that has done its work: uvicorn's would be killed by the signal anew."""

    def __init__(self, config: uvicorn.Config, told: Callable[[], None]) -> None:
        super().__init__(config)
        self._told = told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._told()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def timed(protocol: Any, limits: Limits) -> Any:
    """uvicorn's protocol, whose connections are cut where a head does not come, or an answer is not taken.

    uvicorn itself waits for ever for the rest of a head, of any size, and for a client that reads nothing.
    """

    class Timed(protocol):  # type: ignore[misc]
        def __init__(self, *args: Any, **keywords: Any) -> None:
            super().__init__(*args, **keywords)
            self._cut: asyncio.TimerHandle | None = None
            self._head = 0  # bytes of a head that has not come to its end

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._cut_after(limits.read_seconds)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._is_in_request():
                self._head = 0
                self._cut_never()
                return
            self._head += len(data)
            if self._head > limits.head:
                self._cut_now()
            elif self._cut is None:
                self._cut_after(limits.read_seconds)

        def _is_in_request(self) -> bool:
            """Whether what came last ended a head: its request is being answered, or was at once."""
            return self.cycle is not None and (not self.cycle.response_complete or self.timeout_keep_alive_task is not None)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._cut_after(limits.read_seconds)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._cut_never()

        def connection_lost(self, exc: Exception | None) -> None:
            self._cut_never()
            super().connection_lost(exc)

        def _cut_after(self, seconds: float) -> None:
            self._cut_never()
            self._cut = self.loop.call_later(seconds, self._cut_now)

        def _cut_never(self) -> None:
            if self._cut is not None:
                self._cut.cancel()
                self._cut = None

        def _cut_now(self) -> None:
            self._cut = None
            if self.transport is not None:
                self.transport.abort()

    return Timed
