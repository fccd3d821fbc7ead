"""Requests."""

from __future__ import annotations

PENGUIN = {
    "island": "Biscoe",
    "bill_length_mm": 40.1,
    "bill_depth_mm": 18.2,
    "flipper_length_mm": 190,
    "body_mass_g": 3900,
    "sex": "male",
    "year": 2007,
}
CAR = {
    "cylinders": 8,
    "displacement": 307,
    "horsepower": None,
    "weight": 3504,
    "acceleration": 12.5,
    "year": "1970-01-01",
    "origin": "USA",
    "name": "chevrolet chevelle malibu",
}


def penguin(**changes):
    return {**PENGUIN, **changes}


def assert_is_error(response, status):
    """Every error has one form."""
    assert response.status_code == status, response.text
    said = response.json()
    assert said.keys() == {"error", "n_problems", "problems"}
    assert all(problem.keys() == {"row", "column", "value", "message"} for problem in said["problems"])
    return said
