"""Parameter rules: what each accepts, what it refuses, and what its message says."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from mercer._params import (
    ArrayLike,
    Bool,
    Function,
    Integer,
    Interval,
    InvalidParameterError,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Verbosity,
    check_params,
    check_value,
)

GENERATOR = np.random.RandomState(0)
ARRAY = np.zeros(2)

# rule, what it accepts (with what that becomes, where it changes), what it refuses, how it is described
RULES = [
    (Integer(), [0, -3, np.int8(4), 10**30], [1.0, "1", True, np.True_, None, [1], math.nan], "an integer"),
    (Integer(1), [1, np.uint64(7)], [0, -1, 2.0, True], "an integer >= 1"),
    (
        Real(),
        [0, -1.5, np.float32(2), Fraction(1, 2)],
        [math.nan, math.inf, "1", True, None, 1j, Decimal(1)],
        "a finite number",
    ),
    (Real(least=0), [0, 0.0, 5], [-1e-300, math.inf, 10**400], "a finite number >= 0"),
    (Real(above=0), [1e-300, 5], [0, 0.0, -1], "a finite number > 0"),
    (Real(above=0, most=1), [0.5, 1], [0, 1.0000001], "a finite number > 0 and <= 1"),
    (Real(least=0, most=1), [0, 1, 0.5], [-0.1, 1.1], "a finite number >= 0 and <= 1"),
    (Bool(), [True, False, np.True_], [0, 1, "True", None], "True or False"),
    (Verbosity(), [True, 0, 1, 10], [-1, 0.5, None, "1"], "True or False or an integer >= 0"),
    (Null(), [None], [0, False, "None", ()], "None"),
    (OneOf("lloyd", "elkan"), ["lloyd", "elkan"], ["Lloyd", "", None, 0, ["lloyd"], ARRAY], "'lloyd' or 'elkan'"),
    (Function(), [len, lambda: None, int], [None, "len", 3], "a callable"),
    (ArrayLike(), [[1], (1, 2), ARRAY, [[1.0]]], ["ab", b"ab", {"a": 1}, None, 3, len], "an array"),
    (
        Interval(),
        [(0, 1), [-1.5, 2]],
        [(1, 0), (1, 1), (0,), (0, 1, 2), (0, math.inf), (0, math.nan), ("0", "1"), 5, None],
        None,
    ),
    (Interval(least=0, most=100), [(25.0, 75.0), (0, 100)], [(-1, 50), (50, 101)], None),
    (RandomState(), [None, 0, 2**32 - 1, np.int64(3), GENERATOR], [-1, 2**32, 1.0, True, "0", np.random.default_rng(0)], None),
    (NumberOfJobs(), [None, 1, -1, np.int64(4)], [0, 1.0, True, "all"], "None or an integer other than 0"),
    (Integer(1) | OneOf("auto"), [1, "auto"], [0, "Auto", None], "an integer >= 1 or 'auto'"),
    (Integer(1) | OneOf("auto") | Null(), [1, "auto", None], [0, "none"], "an integer >= 1 or 'auto' or None"),
]


def _is_accepted(rule, value):
    try:
        check_value("Owner", "name", value, rule)
    except InvalidParameterError:
        return False
    return True


ids = [rule.describe() for rule, *_ in RULES]


@pytest.mark.parametrize(("rule", "accepted", "refused", "description"), RULES, ids=ids)
def test_a_rule_accepts_and_refuses(rule, accepted, refused, description):
    assert [value for value in accepted if not _is_accepted(rule, value)] == []
    assert [value for value in refused if _is_accepted(rule, value)] == []
    assert description is None or rule.describe() == description


@pytest.mark.parametrize(("rule", "accepted", "refused", "description"), RULES, ids=ids)
def test_the_message_names_owner_parameter_value_and_what_would_do(rule, accepted, refused, description):
    for value in refused:
        with pytest.raises(InvalidParameterError) as caught:
            check_value("Owner", "name", value, rule)
        assert str(caught.value) == f"Owner: name={value!r} is not valid; it must be {rule.describe()}."


def test_the_error_is_both_a_value_error_and_a_type_error():
    assert issubclass(InvalidParameterError, ValueError)
    assert issubclass(InvalidParameterError, TypeError)


@pytest.mark.parametrize(
    ("rule", "value", "kind"),
    [(Integer(), np.int8(4), int), (Real(), 3, float), (Real(), np.float32(2), float), (Bool(), np.True_, bool),
     (NumberOfJobs(), np.int64(2), int), (Interval(), [1, 2], tuple)],
)  # fmt: skip
def test_accepted_values_become_plain_python(rule, value, kind):
    checked = check_value("Owner", "name", value, rule)
    assert type(checked) is kind
    assert np.all(np.asarray(checked) == np.asarray(value))


def test_what_cannot_be_converted_is_passed_through_as_it_is():
    for rule, value in ((ArrayLike(), ARRAY), (Function(), len), (RandomState(), GENERATOR)):
        assert check_value("Owner", "name", value, rule) is value


class Example(BaseEstimator):
    _parameter_rules = {"count": Integer(1), "ratio": Real(least=0, most=1)}  # noqa: RUF012

    def __init__(self, count=1, ratio=0.5):
        self.count = count
        self.ratio = ratio


def test_check_params_gives_the_checked_values_and_leaves_the_estimator_alone():
    example = Example(count=np.int64(3), ratio=1)
    params = check_params(example)
    assert vars(params) == {"count": 3, "ratio": 1.0}
    assert type(params.count) is int
    assert type(example.count) is np.int64


def test_check_params_names_the_class():
    with pytest.raises(
        InvalidParameterError, match=r"^Example: ratio=2 is not valid; it must be a finite number >= 0 and <= 1\.$"
    ):
        check_params(Example(ratio=2))
