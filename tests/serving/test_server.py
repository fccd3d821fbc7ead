"""The server as a process: it says where it listens, answers many at a time, cuts who is slow, and ends cleanly."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from mercer._serving.limits import Limits
from mercer._serving.server import address_of, listening_socket, timed
from tests.command.driver import environment, run, start
from tests.serving.samples import PENGUIN, penguin


class Server:
    """A server in a child process, at a port of its own."""

    def __init__(self, run_path, *options):
        self.process = start("serve", run_path.name, "--port", "0", "--json", *options, cwd=run_path.parent)
        self.about = json.loads(self.process.stdout.readline())
        parts = urlsplit(self.about["address"])
        self.place = (parts.hostname, parts.port)

    def ask(self, path="/predict", value=None, connection=None):
        own = connection or http.client.HTTPConnection(*self.place, timeout=60)
        body = None if value is None else json.dumps(value)
        own.request("GET" if value is None else "POST", path, body, {"Content-Type": "application/json"})
        response = own.getresponse()
        said = response.read()
        if connection is None:
            own.close()
        return response.status, json.loads(said)

    def end(self, number):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture(scope="module")
def server(classes_run):
    found = Server(classes_run)
    yield found
    found.process.kill()
    found.process.communicate()


def test_it_listens_at_this_machine_alone_and_says_what_it_serves(server):
    assert server.place[0] == "127.0.0.1"
    assert (server.about["target"], server.about["task"]) == ("species", "classification")
    assert server.ask("/health")[1]["status"] == "ok"


def test_many_are_answered_at_a_time_with_the_bits_of_one(server):
    rows = [penguin(bill_length_mm=33 + 0.25 * i, island=("Biscoe", "Dream")[i % 2]) for i in range(60)]
    alone = [server.ask(value={"row": row}) for row in rows]
    explained = server.ask("/explain", {"row": PENGUIN})[1]

    def client(number):
        connection = http.client.HTTPConnection(*server.place, timeout=60)
        if number == 0:
            said = [server.ask("/explain", {"row": PENGUIN}, connection)[1]["contributions"] for _ in range(3)]
            return all(each == explained["contributions"] for each in said)
        return [server.ask(value={"row": row}, connection=connection) for row in rows] == alone

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(client, range(6)))
    assert {status for status, _ in alone} == {200}


def test_a_head_that_grows_for_ever_is_cut(server):
    with socket.create_connection(server.place, timeout=60) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        with pytest.raises(OSError):  # reset, or a pipe that is broken
            client.sendall((b"X-Filler: " + b"a" * 1000 + b"\r\n") * 100_000)
    assert server.ask("/health")[0] == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_it_ends_cleanly_when_what_was_asked_is_answered(classes_run, number):
    found = Server(classes_run)
    idle = socket.create_connection(found.place)
    answered = []
    rows = {"rows": [PENGUIN] * 5000}  # work for a thread, and some time
    asking = threading.Thread(target=lambda: answered.append(found.ask(value=rows)))
    connection = http.client.HTTPConnection(*found.place, timeout=60)
    asking.start()
    while b"mercer_requests_in_progress 2" not in _metrics(connection) and asking.is_alive():
        time.sleep(0.001)
    code, _, err = found.end(number)
    asking.join()
    idle.close()
    connection.close()
    assert code == 0
    assert err == ""
    assert answered[0][0] == 200
    assert len(answered[0][1]["predictions"]) == 5000


def _metrics(connection):
    connection.request("GET", "/metrics")
    return connection.getresponse().read()


def test_a_port_that_is_taken_is_one_clear_line(server, classes_run):
    done = run("serve", "run", "--port", server.place[1], cwd=classes_run.parent)
    assert done.returncode == 2
    assert done.stderr.startswith(f"mercer: --port {server.place[1]}: the server cannot listen at 127.0.0.1:")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("nothing",), "nothing: there is no run here"),
        (("run", "--host", "no.such.host.invalid"), "--host no.such.host.invalid: there is no such address"),
        (("run", "--threshold", "0.5"), "--threshold 0.5: the model has no probabilities of two classes"),
        (("run", "--timeout", "soon"), "--timeout"),
        (("run", "--max-rows", "0"), "--max-rows 0: it must be positive"),
        (("begun",), "the run has no model yet"),
    ],
)
def test_what_cannot_be_served_is_one_clear_line(classes_run, options, words):
    begun = classes_run.parent / "begun"
    begun.mkdir(exist_ok=True)
    (begun / "run.json").write_bytes((classes_run / "run.json").read_bytes())
    done = run("serve", *options, "--port", "0", cwd=classes_run.parent)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_its_packages_the_command_names_the_extra(classes_run):
    code = "import sys; sys.modules['fastapi'] = None; from mercer._command import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "serve", "run"], cwd=classes_run.parent, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == "mercer: mercer serve needs fastapi: pip install 'mercer[serve]'.\n"


def test_addresses_are_those_that_a_browser_takes():
    for host, shown in (("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://127.0.0.1:")):
        with listening_socket(host, 0) as found:
            assert address_of(found).startswith(shown)


class _Protocol:
    """Stands in for uvicorn's, with a loop whose timers the test lets go."""

    def __init__(self):
        self.loop, self.transport, self.cycle = self, None, None
        self.timeout_keep_alive_task = None
        self.timers = []
        self.is_aborted = False

    def call_later(self, seconds, call):
        timer = _Timer(seconds, call)
        self.timers.append(timer)
        return timer

    def abort(self):
        self.is_aborted = True

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.cycle = _Cycle() if data.endswith(b"\r\n\r\n") else self.cycle

    def pause_writing(self): ...

    def resume_writing(self): ...

    def connection_lost(self, exc): ...

    def wait(self):
        for timer in [timer for timer in self.timers if not timer.is_cancelled]:
            timer.call()


class _Timer:
    def __init__(self, seconds, call):
        self.seconds, self.call, self.is_cancelled = seconds, call, False

    def cancel(self):
        self.is_cancelled = True


class _Cycle:
    response_complete = False


@pytest.fixture
def connection():
    found = timed(_Protocol, Limits(head=100, read_seconds=3))()
    found.connection_made(found)
    return found


def test_who_sends_nothing_is_cut(connection):
    assert [timer.seconds for timer in connection.timers] == [3]
    connection.wait()
    assert connection.is_aborted


def test_who_sends_a_head_bit_by_bit_is_cut_after_the_same_time(connection):
    for _ in range(5):
        connection.data_received(b"X: 1\r\n")
    assert len(connection.timers) == 1
    connection.wait()
    assert connection.is_aborted


def test_who_begins_a_second_head_and_does_not_end_it_is_cut(connection):
    connection.data_received(b"GET / HTTP/1.1\r\n\r\n")
    connection.wait()
    assert not connection.is_aborted
    connection.cycle.response_complete = True
    connection.data_received(b"GET")
    connection.wait()
    assert connection.is_aborted


def test_a_head_that_is_too_long_is_cut_at_once(connection):
    connection.data_received(b"a" * 101)
    assert connection.is_aborted


def test_who_does_not_take_an_answer_is_cut(connection):
    connection.data_received(b"GET / HTTP/1.1\r\n\r\n")
    connection.pause_writing()
    connection.resume_writing()
    connection.wait()
    assert not connection.is_aborted
    connection.pause_writing()
    connection.wait()
    assert connection.is_aborted
    connection.connection_lost(None)
