"""`mercer serve`: a local prediction service for a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mercer._command.failures import clear_errors
from mercer._command.options import JsonFlag, RunPath
from mercer._command.quantities import seconds_of
from mercer._runs.errors import RunError


def serve_command(
    run: RunPath,
    host: Annotated[str, typer.Option(help="The address to listen at. Others than this machine reach 0.0.0.0.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes any that is free.", min=0, max=65535)] = 8000,
    allow_host: Annotated[
        list[str], typer.Option(help="A further name by which the server may be called, such as models.local. Repeatable.")
    ] = [],  # noqa: B006
    threshold: Annotated[
        float | None, typer.Option(help="The least probability of the second class (two classes only).")
    ] = None,
    max_rows: Annotated[int, typer.Option(help="The most rows of a request.")] = 10_000,
    max_body: Annotated[int, typer.Option(help="The most bytes of a request.")] = 8 * 2**20,
    timeout: Annotated[str, typer.Option(help="How long an answer may take: 30s, 2m.")] = "30s",
    as_json: JsonFlag = False,
) -> None:
    """Serve predictions and explanations of a run: a form for a browser, and JSON and CSV for programs.

    Ends with Ctrl-C, when what was asked is answered. There is no password: whoever reaches the address can ask.
    """
    with clear_errors(as_json=as_json):
        try:
            import fastapi  # noqa: F401
            import uvicorn  # noqa: F401
        except ImportError as error:
            raise RunError(f"mercer serve needs {error.name}: pip install 'mercer[serve]'.") from None
        from mercer._serving.guard import Hosts
        from mercer._serving.limits import Limits
        from mercer._serving.server import address_of, listening_socket, run as serve

        limits = Limits(body=max_body, rows=max_rows, seconds=seconds_of(timeout, "--timeout"))
        with listening_socket(host, port) as found:
            from mercer._serving.application import application
            from mercer._serving.served import Served

            served = Served(run, threshold=threshold, longest=limits.text)
            address = address_of(found)
            app = application(served, limits, Hosts((host, *allow_host)), address)
            serve(app, found, limits, lambda: _say(run, served.about(), address, as_json=as_json))
        if not as_json:
            typer.echo("ended", err=True)


def _say(run: Path, about: dict[str, object], address: str, *, as_json: bool) -> None:
    """Where it listens, and what it serves."""
    if as_json:
        typer.echo(json.dumps({"address": address, **about}))
        return
    what = "labels of clusters" if about["target"] is None else f"predictions of {about['target']}"
    typer.echo(f"{address}  {what} by {about['model']} of {run}: open it in a browser", err=True)
    typer.echo(f"{address}docs  the interface for programs; {address}metrics for Prometheus. Ctrl-C ends it.", err=True)
