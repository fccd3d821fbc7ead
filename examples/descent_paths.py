"""Draw how descent methods walk down: each method's path, the choice of the step, local minima, noise, unit balls.

Writes five pictures into the folder `demo` and prints what each run reached. Takes a few seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import rosen, rosen_der, rosen_hess

from mercer.optim import DecreasingStep, Quadratic, minimize, norm, sgd_minimize
from mercer.plots import plot_descent

FOLDER = Path("demo")
VALLEY = Quadratic([[2.0, -2.0], [-2.0, 8.0]])  # x1^2 + 4 x2^2 - 2 x1 x2
START = np.array([-3.2, 1.6])
METHODS = {
    "gd": "gradient descent",
    "cg": "conjugate gradients",
    "newton": "Newton",
    "broyden": "Broyden, rank 1",
    "bfgs": "BFGS",
    "lbfgs": "L-BFGS",
}


def many_minima(x: np.ndarray) -> float:
    return float(4 + np.sum(x**2 - 2 * np.cos(2 * np.pi * x)))


def many_minima_gradient(x: np.ndarray) -> np.ndarray:
    return 2 * x + 4 * np.pi * np.sin(2 * np.pi * x)


def save(figure: Any, name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / name, dpi=120)
    plt.close(figure)
    print(f"picture written to {FOLDER / name}\n")


def paths_of_the_methods() -> None:
    """Every method on the valley (exact steps) and on Rosenbrock's banana (Wolfe's conditions)."""
    figure, axes = plt.subplots(4, 3, figsize=(12, 11.5), layout="constrained")
    print(f"{'method':<22}{'valley: steps':>15}{'Rosenbrock: steps':>19}")
    for (name, title), above, below in zip(METHODS.items(), axes[:2].flat, axes[2:].flat, strict=True):
        valley = minimize(VALLEY, START, method=name, step="optimal")
        banana = minimize(rosen, [-1.2, 1.0], rosen_der, rosen_hess, method=name, max_iter=2000, tol=1e-3)
        print(f"{title:<22}{valley.nit:>15}{banana.nit:>19}{'' if banana.success else '  (not converged)'}")
        plot_descent(valley, VALLEY, xlim=(-4, 4), ylim=(-2.2, 2.2), ax=above)
        above.set_title(f"{title}: {valley.nit} {'step' if valley.nit == 1 else 'steps'}")
        plot_descent(banana, rosen, xlim=(-1.7, 1.5), ylim=(-0.6, 1.6), spacing=4.0, ax=below)
        below.set_title(f"{title}: {banana.nit} steps{'' if banana.success else ', not there yet'}")
    figure.suptitle("Quadratic valley with exact steps (above), Rosenbrock's function with Wolfe steps (below)")
    save(figure, "descent-methods.png")


def choice_of_the_step() -> None:
    """Gradient descent with constant steps that are too small, good and too large, and with the other rules."""
    figure, axes = plt.subplots(2, 3, figsize=(12.5, 6.8), layout="constrained")
    longest = 2 / np.linalg.eigvalsh(VALLEY.A).max()
    panels = [
        ("too small: 0.01", 0.01, 30),
        ("good: 0.2", 0.2, 30),
        (f"too large: 0.25 > 2/L = {longest:.3f}", 0.25, 8),
        ("decreasing: 1/(4k)", DecreasingStep(0.25), 30),
        ("optimal", "optimal", 30),
        ("Armijo", "armijo", 30),
    ]
    for ax, (title, step, n_steps) in zip(axes.flat, panels, strict=True):
        result = minimize(VALLEY, START, method="gd", step=step, max_iter=n_steps)
        plot_descent(result, VALLEY, xlim=(-5, 5), ylim=(-3, 3), ax=ax)
        ax.set_title(f"{title}\nafter {result.nit} steps f = {result.fun:.2g}")
        print(f"{title:<36} {result.message}")
    figure.suptitle(r"Gradient descent on $x_1^2 + 4 x_2^2 - 2 x_1 x_2$: the choice of the step")
    save(figure, "descent-steps.png")


def local_minima() -> None:
    """Where gradient descent ends from several starts, on a function with many minima."""
    figure, ax = plt.subplots(figsize=(7, 7.4), layout="constrained")
    results = {}
    for start in [(0.4, -0.35), (1.4, 0.6), (-1.6, -0.65), (-0.6, 1.4), (0.55, -1.4)]:
        result = minimize(many_minima, start, many_minima_gradient, method="gd", step=0.005)
        results[f"from {start} to f = {result.fun:.2f}"] = result
        print(f"from {start}: x = {np.round(result.x, 3)}, f = {result.fun:.3f}")
    plot_descent(results, many_minima, xlim=(-2, 2), ylim=(-2, 2), spacing=1.0, ax=ax)
    ax.get_legend().remove()  # it would hide minima; it goes below
    ax.set_title(r"$f(x) = 4 + \sum_i (x_i^2 - 2 \cos 2 \pi x_i)$: the start decides", pad=14)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    save(figure, "descent-minima.png")


def noisy_gradients() -> None:
    """Stochastic descent on a small regression: the order of the terms, and the optimisers."""
    random = np.random.RandomState(0)
    A = random.randn(200, 2) @ np.array([[1.0, 0.6], [0.0, 0.5]])
    b = A @ [1.5, -1.0] + 0.5 * random.randn(200)

    def fun(x: np.ndarray, indices: np.ndarray) -> float:
        return float(0.5 * np.mean((A[indices] @ x - b[indices]) ** 2))

    def gradient(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        return A[indices].T @ (A[indices] @ x - b[indices]) / len(indices)

    least = fun(np.linalg.lstsq(A, b, rcond=None)[0], np.arange(200))

    def excess(**options: Any) -> np.ndarray:
        """How far above the minimum the run is after each epoch, in the mean over ten seeds."""
        runs = [sgd_minimize(gradient, [0, 0], 200, fun=fun, n_epochs=40, random_state=seed, **options) for seed in range(10)]
        return np.mean([run.trace.fun - least for run in runs], axis=0)

    figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5), layout="constrained")
    for sampling, size in (("full", 1), ("cyclic", 1), ("random", 1), ("shuffle", 1), ("shuffle", 20)):
        label = sampling if size == 1 else f"{sampling}, batches of {size}"
        curve = excess(sampling=sampling, batch_size=size, rate=0.05)
        left.semilogy(curve, label=label)
        print(f"{label:<24} {curve[-1]:.2e} above the minimum, constant rate")
    rates = {"sgd": 0.05, "momentum": 0.005, "nesterov": 0.005, "adagrad": 0.3, "rmsprop": 0.01, "adam": 0.02}
    for name, rate in rates.items():
        curve = excess(optimizer=name, rate=rate, batch_size=5, schedule="cosine")
        right.semilogy(curve, label=f"{name}, rate {rate}")
        print(f"{name:<24} {curve[-1]:.2e} above the minimum, cosine decay")
    left.set(title="Which terms make up a gradient: plain descent, rate 0.05", ylim=(1e-5, 1))
    right.set(title="Optimisers: shuffled batches of 5, cosine decay")
    for ax in (left, right):
        ax.set(xlabel="epoch", ylabel="f minus its minimum, mean of ten runs")
    left.legend(loc="lower left", frameon=False)
    right.legend(loc="upper right", frameon=False)
    save(figure, "descent-noisy.png")


def unit_balls() -> None:
    """The unit balls of l_p norms, and a path that moves along one coordinate at a time."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    angles = np.linspace(0, 2 * np.pi, 721)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for p in (1, 1.5, 2, 4, np.inf):
        ball = circle / np.array([norm(x, p) for x in circle])[:, None]
        left.plot(*ball.T, label=rf"$p = {p:g}$".replace("inf", r"\infty"))
    left.set(title=r"$\|x\|_p = 1$", aspect="equal")
    left.legend(loc="center", frameon=False)
    steps = minimize(VALLEY, START, method="coordinate", step="optimal")
    plot_descent(steps, VALLEY, xlim=(-4, 4), ylim=(-2.2, 2.2), ax=right)
    right.set_title(f"steepest coordinate, exact steps: {steps.nit} steps")
    print(f"coordinate descent: {steps.message}")
    save(figure, "descent-balls.png")


def main() -> None:
    plt.switch_backend("Agg")  # files, not windows
    paths_of_the_methods()
    choice_of_the_step()
    local_minima()
    noisy_gradients()
    unit_balls()


if __name__ == "__main__":
    main()
