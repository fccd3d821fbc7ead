"""How many rows a precision takes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mercer._params import InvalidParameterError, OneOf, Real, check_value
from mercer.theory._bound import CHANCE, Bound
from mercer.theory._classes import VC, FiniteClass, RealizableFiniteClass, RealizableVC
from mercer.theory._concentration import Bernstein, EmpiricalBernstein, Hoeffding, McDiarmid
from mercer.theory._descriptions import Occam
from mercer.theory._pac_bayes import McAllester
from mercer.theory._test_sets import BinomialTest

_BY_NAME: dict[str, type[Bound]] = {
    "hoeffding": Hoeffding,
    "mcdiarmid": McDiarmid,
    "bernstein": Bernstein,
    "empirical_bernstein": EmpiricalBernstein,
    "binomial": BinomialTest,
    "finite": FiniteClass,
    "realizable": RealizableFiniteClass,
    "vc": VC,
    "realizable_vc": RealizableVC,
    "occam": Occam,
    "pac_bayes": McAllester,
}


def sample_size(precision: float, delta: float = 0.05, bound: str | type[Bound] = "hoeffding", **inputs: Any) -> int:
    """The fewest rows after which the risk lies within `precision` of what the rows show, with probability 1 - delta.

    Parameters
    ----------
    precision : float
    delta : float, default=0.05
    bound : str or class of bounds, default="hoeffding"
        What the answer goes by: "hoeffding" and "binomial" (a test set), "bernstein" and "empirical_bernstein" (with
        `variance`), "mcdiarmid", "finite" and "realizable" (with `size`), "vc" and "realizable_vc" (with `dimension`), "occam"
        (with `bits`), "pac_bayes" (with `divergence`), or the class itself.
    **inputs
        The other inputs of that bound.

    Returns
    -------
    n_rows : int

    Examples
    --------
    >>> from mercer.theory import sample_size
    >>> sample_size(0.05)
    600
    >>> sample_size(0.05, two_sided=True)
    738
    >>> sample_size(0.05, 0.01, "vc", dimension=11)
    106807
    >>> sample_size(0.01, bound="binomial", risk=0.0)
    299

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, Understanding Machine Learning, Cambridge 2014, chapters 2 to 6.
    """
    precision = check_value("sample_size", "precision", precision, Real(above=0))
    if isinstance(bound, type) and issubclass(bound, Bound):
        made = bound
    else:
        made = _BY_NAME[check_value("sample_size", "bound", bound, OneOf(*_BY_NAME))]
    delta = check_value("sample_size", "delta", delta, CHANCE)
    try:
        return made(m=2, delta=delta, **inputs).rows_for(precision)
    except TypeError as error:
        if isinstance(error, InvalidParameterError):
            raise
        named = [field.name for field in fields(made) if field.name not in ("m", "delta")]
        raise InvalidParameterError(f"sample_size: {made.__name__} takes {', '.join(named)}; {inputs!r} was given.") from None
