"""Draw what theory says: bias and variance of polynomials, double descent, structural risk, bounds, no free lunch.

Writes five pictures into the folder `demo` and prints the figures. Takes about half a minute.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from mercer.linear_model import LinearRegression
from mercer.neighbors import KNeighborsClassifier
from mercer.pipeline import make_pipeline
from mercer.plots import plot_structural_risk
from mercer.preprocessing import PolynomialFeatures
from mercer.svm import SVC
from mercer.theory import (
    VC,
    BinomialTest,
    Hoeffding,
    Occam,
    RegressionLaw,
    bias_variance,
    double_descent,
    structural_risk_minimization,
)
from mercer.tree import DecisionTreeClassifier

FOLDER = Path("demo")


def spread_rows(random: np.random.RandomState, n: int) -> np.ndarray:
    """One x in each of n equal parts of [-1, 1]: polynomials of high degree are wild enough without gaps."""
    return (2 * (np.arange(n) + random.uniform(size=n)) / n - 1)[:, None]


WAVE = RegressionLaw(spread_rows, lambda X: np.sin(3 * X[:, 0]), noise=0.3)
PLANE = RegressionLaw(lambda random, n: random.normal(size=(n, 10)), lambda X: X[:, 0] - X[:, 1], noise=0.5)


def polynomial(degree: int) -> Any:
    return make_pipeline(PolynomialFeatures(degree, include_bias=False), LinearRegression())


def save(figure: Any, name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / name, dpi=120)
    plt.close(figure)
    print(f"picture written to {FOLDER / name}\n")


def polynomials_of_degree_15() -> None:
    """Ten polynomials of degree 15, each of 30 rows of its own, and their mean, which varies far less."""
    random, grid = np.random.RandomState(0), np.linspace(-0.9, 0.9, 300)[:, None]
    curves = [polynomial(15).fit(*WAVE.draw(30, random)).predict(grid) for _ in range(10)]
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
    for curve in curves:
        axes[0].plot(grid, curve, color="0.55", linewidth=1)
    axes[1].plot(grid, np.mean(curves, axis=0), color="C3", label="mean of the ten")
    for ax, title in zip(axes, ("ten fits of degree 15 to 30 rows each", "their mean"), strict=True):
        ax.plot(grid, WAVE.mean(grid), color="C0", label="truth")
        ax.set(title=title, xlabel="x", ylim=(-2, 2))
    axes[1].legend()
    save(figure, "theory-polynomials.png")
    print("degree    bias  variance   noise   error")
    for degree in (1, 3, 5, 9, 15):
        found = bias_variance(polynomial(degree), WAVE, 30, X_test=grid, n_rounds=200, random_state=0)
        print(f"{degree:>6}{found.bias:>8.3f}{found.variance:>10.3f}{found.noise:>8.3f}{found.error:>8.3f}")


def descents() -> None:
    """The error over the number of random features, on both sides of the peak."""
    sizes = [2, 5, 10, 20, 30, 35, 38, 40, 42, 45, 55, 80, 150, 300, 800]
    curve = double_descent(PLANE, 40, sizes, n_rounds=40, random_state=0)
    figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
    ax.loglog(sizes, curve.error, "-o", markersize=4, label="error")
    ax.loglog(sizes, curve.variance, ":", label="variance")
    ax.loglog(sizes, np.where(curve.bias > 2 * curve.standard_error, curve.bias, np.nan), "--", label="squared bias, if known")
    ax.loglog(sizes, np.maximum(curve.train_error, 1e-3), label="training error (cut at 0.001)")
    ax.axvline(curve.n_samples, color="0.5", linewidth=1)
    ax.set(xlabel="random features", ylabel="mean squared error", title="Double descent: 40 rows, weights of least norm")
    ax.legend()
    save(figure, "theory-double-descent.png")
    print(
        f"peak at {curve.peak} features for {curve.n_samples} rows; least error {curve.error.min():.3f}, at the peak "
        f"{curve.error.max():.1f}\n"
    )


def structural_risks() -> None:
    """Which degree a bound and a criterion choose."""
    random = np.random.RandomState(0)
    X = random.uniform(-1, 1, size=(4000, 2))
    y = (X[:, 1] > X[:, 0] ** 2 - 0.4).astype(int) ^ (random.uniform(size=4000) < 0.05)
    curves = [SVC(kernel="poly", degree=degree, C=10.0, gamma=1.0, coef0=1.0, tol=1e-2) for degree in (1, 2, 3, 4)]
    by_bound = structural_risk_minimization(curves, X, y, penalty="vc", labels=["1", "2", "3", "4"])
    by_criterion = structural_risk_minimization([polynomial(d) for d in range(1, 11)], *WAVE.draw(60, random), penalty="bic")
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for ax, found, title in zip(axes, (by_bound, by_criterion), ("kernels, VC bound", "polynomials, BIC"), strict=True):
        plot_structural_risk(found, ax=ax)
        ax.set(title=title, xlabel="degree")
    save(figure, "theory-structural-risk.png")
    print(by_bound, by_criterion, sep="\n", end="\n\n")


def bounds() -> None:
    """How bounds fall with the number of rows; those above one say nothing."""
    rows = np.unique(np.geomspace(20, 100_000, 60).astype(int))
    makers = {
        "test set, exact": lambda m: BinomialTest(m=m, delta=0.05, risk=0.05),
        "test set, Hoeffding": lambda m: Hoeffding(m=m, delta=0.05, risk=0.05),
        "Occam, 200 bits": lambda m: Occam(bits=200, m=m, delta=0.05, risk=0.05),
        "VC dimension 11": lambda m: VC(dimension=11, m=m, delta=0.05, risk=0.05),
    }
    figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
    for name, make in makers.items():
        ax.semilogx(rows, [make(int(m)).value for m in rows], label=name)
    ax.axhspan(1, 1.4, color="0.92")
    ax.text(25, 1.3, "vacuous", color="0.4")
    ax.axhline(0.05, color="0.5", linewidth=1, linestyle=":")
    ax.set(xlabel="rows", ylabel="risk, with probability 0.95", ylim=(0, 1.4), title="Bounds for 5 % errors on the rows")
    ax.legend()
    save(figure, "theory-bounds.png")


def no_free_lunch() -> None:
    """Over all labellings of eight points, every learner errs on half of the points that it has not seen."""
    points = np.array(list(itertools.product((0, 1), repeat=3)), dtype=float)
    seen, unseen = points[:5], points[5:]
    learners = {
        "1 neighbour": KNeighborsClassifier(1),
        "3 neighbours": KNeighborsClassifier(3),
        "a deep tree": DecisionTreeClassifier(random_state=0),
        "a stump": DecisionTreeClassifier(max_depth=1, random_state=0),
    }
    errors: dict[str, list[float]] = {name: [] for name in learners}
    for labels in itertools.product((0, 1), repeat=8):
        y = np.array(labels)
        for name, learner in learners.items():
            constant = len(set(y[:5])) == 1
            predicted = np.full(3, y[0]) if constant else learner.fit(seen, y[:5]).predict(unseen)
            errors[name].append(float((predicted != y[5:]).mean()))
    figure, ax = plt.subplots(figsize=(7.5, 4.0), layout="constrained")
    bins = np.arange(5) / 3 - 1 / 6
    ax.hist(list(errors.values()), bins=bins.tolist(), label=list(errors))
    ax.set(xlabel="error on the three points not seen", ylabel="labellings of 256", title="No free lunch: the mean is one half")
    ax.set_xticks([0, 1 / 3, 2 / 3, 1], ["0", "1/3", "2/3", "1"])
    ax.legend()
    save(figure, "theory-no-free-lunch.png")
    for name, found in errors.items():
        print(f"{name:<14} mean error on unseen points over all {len(found)} labellings: {np.mean(found):.3f}")


def main() -> None:
    plt.switch_backend("Agg")  # files, not windows
    polynomials_of_degree_15()
    descents()
    structural_risks()
    bounds()
    no_free_lunch()


if __name__ == "__main__":
    main()
