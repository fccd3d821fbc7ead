"""The model card and the ways to ask the model, as a report holds them."""

from __future__ import annotations

from typing import TypedDict


class Card(TypedDict):
    """What a model is for, what it learnt from, and how far it holds."""

    model: str
    purpose: str
    data: str
    description: str | None  # these three are known of tables that come with Mercer
    licence: str | None
    source: str | None
    tested: str
    limits: list[str]


class Serving(TypedDict):
    """Commands and code that ask the model of a run."""

    predict: str
    serve: str
    python: str
