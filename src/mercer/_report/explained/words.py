"""What is said of an explained prediction, the same in a terminal and on the page."""

from __future__ import annotations

from collections.abc import Sequence

from mercer._report.explained.content import Change, Neighbour, RowContent, Share
from mercer._report.numbers import MINUS, NOTHING, count, decimals_for, number, plural

_MOST_CLASSES = 6


def share_head(content: RowContent) -> str:
    """The head of what columns gave."""
    return "gave" if content["fidelity"] is None else "weight"


def share_decimals(shares: Sequence[Share]) -> int:
    """Decimals for what columns gave, such that the largest has three figures and they are aligned."""
    return decimals_for([share["contribution"] for share in shares])


def signed(value: float, decimals: int | None = None) -> str:
    """What a column gave."""
    shown = number(value, decimals)
    return f"+{shown}" if value > 0 and shown.strip("0.,") else shown


def output_name(content: RowContent) -> str:
    """What is explained: a probability, say, of a class."""
    names = {
        "probability": f"probability of {content['label']}",
        "decision value": f"decision value of {content['label']}",
        "vote": f"prediction of {content['label']} (1: predicted)",
        "number": content["target"],
    }
    if content["unit"] != "raw score":
        return names[content["unit"]]
    of = "" if content["label"] is None else f" for {content['label']}"
    return f"raw score{of} (before the model makes {'a number' if content['label'] is None else 'probabilities'} of it)"


def prediction_words(content: RowContent) -> str:
    """The prediction in a sentence."""
    what = f"{content['model']} predicts {content['target']} to be {content['predicted']}"
    own = next((each for each in content["classes"] or [] if each["label"] == content["predicted"]), None)
    if own is None or content["unit"] not in ("probability", "raw score"):
        return f"{what}."
    return f"{what}, with a probability of {number(own['output'], 3)}."


def class_words(content: RowContent) -> str:
    """All classes, if there are more than the one that is predicted and its opposite."""
    classes = content["classes"] or []
    if len(classes) < 3:
        return ""
    shown = [f"{each['label']} {number(each['output'], 3)}" for each in classes[:_MOST_CLASSES]]
    return ", ".join(shown) + (f" and {len(classes) - _MOST_CLASSES} more" if len(classes) > _MOST_CLASSES else "")


def explained_words(content: RowContent) -> str:
    """What is explained, from where to where."""
    if content["fidelity"] is not None:
        return (
            f"The {output_name(content)} is {number(content['output'])}. Near this row a standard deviation more of a number, "
            "or a word being the one that it is, changes it by:"
        )
    rows = plural(content["n_background"], "training row")
    return (
        f"The {output_name(content)} is {number(content['base'])} on average over {rows} and {number(content['output'])} for "
        "this one. To the difference the columns gave:"
    )


def sum_words(content: RowContent) -> str:
    """How what the columns gave adds up, and how it was found."""
    if content["fidelity"] is not None:
        return f"{content['method']}; it fits the model near the row with R2 {number(content['fidelity'], 3)}"
    total = sum(share["contribution"] for share in content["contributions"])
    sign = "+" if total >= 0 else MINUS
    decimals = decimals_for([content["base"], total])
    base, given, end = (number(value, decimals) for value in (content["base"], abs(total), content["base"] + total))
    return f"{base} {sign} {given} = {end}; {content['method']}"


def change_words(content: RowContent, change: Change) -> str:
    """One change in a line."""
    return f"{change['column']}: {change['before'] or NOTHING} → {change['after']} gives {outcome(content, change)}"


def outcome(content: RowContent, change: Change | Neighbour) -> str:
    """What is then predicted."""
    if content["label"] is None or content["unit"] == "vote":
        return change["predicted"]
    return f"{change['predicted']} ({number(change['output'], 3)})"


def nothing_words(content: RowContent) -> str:
    return f"No column gives {content['goal']} by itself: values of {count(content['n_sampled'])} training rows were tried."


def no_neighbour_words(content: RowContent) -> str:
    return f"None of {plural(content['n_sampled'], 'training row')} has {content['goal']}."


def neighbour_words(content: RowContent, neighbour: Neighbour) -> str:
    """The nearest training row that is predicted otherwise."""
    return (
        f"The nearest training row with {content['goal']} is row {neighbour['row']}: {outcome(content, neighbour)}. "
        f"It differs in {plural(len(neighbour['changes']), 'column')}:"
    )
