"""Bodies as they come over a connection: in parts, too large, too slowly, and not at all."""

from __future__ import annotations

import asyncio
import json

import pytest

from mercer._serving.guard import Guard, Hosts
from mercer._serving.limits import Limits
from mercer._serving.metrics import Metrics


def _ask(parts, *, limits=None, headers=((b"host", b"localhost"),), kind="http"):
    """What an application that echoes answers to a body in these parts; None among them: the client has gone; ...: it waits."""
    sent = []
    messages = iter(parts)

    async def receive():
        part = next(messages)
        if part is ...:
            await asyncio.sleep(30)
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": part != parts[-1]}

    async def send(message):
        sent.append(message)

    async def echo(scope, receive, send):
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    metrics = Metrics(dict.fromkeys(("run", "model", "task", "target", "mercer"), ""))
    guard = Guard(echo, limits or Limits(body=10, read_seconds=0.05), metrics, Hosts(()), frozenset({"/"}))
    scope = {"type": kind, "method": "POST", "path": "/", "headers": list(headers)}
    asyncio.run(guard(scope, receive, send))
    assert metrics.n_open == 0
    return sent


def _status_and_words(sent):
    return sent[0]["status"], json.loads(sent[1]["body"])["error"]


def test_a_body_in_parts_is_one_body():
    start, body = _ask([b"ab", b"cd", b"e"])
    assert (start["status"], body["body"]) == (200, b"abcde")
    assert (b"x-content-type-options", b"nosniff") in start["headers"]


@pytest.mark.parametrize("parts", [[b"x" * 11], [b"x" * 6, b"y" * 5, b"z"]])
def test_a_body_that_is_too_large_is_refused_where_it_is_too_large(parts):
    sent = _ask(parts)
    assert _status_and_words(sent) == (413, "The body is larger than the 10 bytes that it may have.")
    assert (b"connection", b"close") in sent[0]["headers"]


def test_a_body_that_says_that_it_is_too_large_is_not_read():
    headers = [(b"host", b"localhost"), (b"content-length", b"9" * 5000)]
    assert _status_and_words(_ask([], headers=headers))[0] == 413


def test_a_body_that_does_not_come_in_time_is_refused():
    assert _status_and_words(_ask([b"x", ...])) == (408, "The body did not come within 0.05 seconds.")


def test_a_client_that_has_gone_is_not_answered():
    assert _ask([b"x", None]) == []


@pytest.mark.parametrize("headers", [[], [(b"host", b"localhost")] * 2])
def test_a_request_has_one_host(headers):
    assert _status_and_words(_ask([b""], headers=headers)) == (400, "A request must have one header Host.")


def test_sockets_for_messages_are_closed():
    assert _ask([], kind="websocket") == [{"type": "websocket.close", "code": 1008}]
