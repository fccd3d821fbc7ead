"""What the test rows say of a decision by costs."""

from __future__ import annotations

from collections.abc import Sequence

from mercer._report.content import Costs
from mercer._report.numbers import decimals_for, number


def describe_costs(
    labels: list[str], matrix: list[list[float]], cost: float, likeliest: float, constant: Sequence[float]
) -> Costs:
    """The mean cost of a test row by the decision, by the likeliest label, and by one label for all, whichever is cheapest."""
    cheapest = min(range(len(labels)), key=lambda code: constant[code])
    decimals = decimals_for([cost, likeliest, constant[cheapest]])
    reading = (
        f"By the costs given, a test row costs {number(cost, decimals)} on average. The likeliest label would cost "
        f"{number(likeliest, decimals)}, {labels[cheapest]} for every row {number(constant[cheapest], decimals)}. The decision "
        "was chosen on training rows, by fits that had not seen them."
    )
    return Costs(labels=labels, matrix=matrix, cost=cost, likeliest=likeliest, constant=constant[cheapest], reading=reading)
