"""Run by `make wheel-check` in an environment that holds the wheel and its dependencies, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

LARGEST_WHEEL = 25e6

# Every family once, with results that must not depend on the variant beyond rounding.
PROBE = """
import numpy as np, mercer
from mercer._native import variant
from mercer.cluster import KMeans
from mercer.linear_model import LinearRegression
from mercer.preprocessing import StandardScaler
random = np.random.RandomState(0)
X = random.randn(500, 7)
y = X @ np.arange(7) + random.randn(500)
Z = StandardScaler().fit_transform(X)
print(variant, float(KMeans(5, random_state=0).fit(Z).inertia_), *map(float, LinearRegression().fit(Z, y).coef_))
"""


def run_probe(variant: str) -> list[float] | None:
    """The figures from one variant, or None where it is not built or this processor cannot run it."""
    environment = {**os.environ, "MERCER_NATIVE": variant}
    done = subprocess.run([sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        if "is not a variant that this processor can run" in done.stderr:
            return None
        sys.exit(f"variant {variant} failed:\n{done.stderr}")
    name, *values = done.stdout.split()
    if name != variant:
        sys.exit(f"asked for variant {variant}, got {name}")
    return [float(value) for value in values]


def check_files(wheel: Path) -> None:
    """Nothing that does not belong, and all that is read at run time."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    if strays := [name for name in names if not name.startswith(("mercer/", "mercer-"))]:
        sys.exit(f"the wheel holds files that do not belong to it: {strays}")
    if lacking := {"mercer/datasets/data/penguins.csv", "mercer/_report/assets/report.js"} - set(names):
        sys.exit(f"the wheel lacks {lacking}")


def check_command() -> None:
    """Without the packages of the command there is one line that says what to install."""
    done = subprocess.run([Path(sys.executable).parent / "mercer", "info"], capture_output=True, text=True, check=False)
    if done.returncode != 2 or "pip install 'mercer[cli]'" not in done.stderr or "Traceback" in done.stderr:
        sys.exit(f"the command without its packages said: {done.stderr}")


def main(wheel: Path) -> None:
    check_files(wheel)
    check_command()
    if wheel.stat().st_size > LARGEST_WHEEL:
        sys.exit(f"the wheel has {wheel.stat().st_size / 1e6:.1f} MB, more than {LARGEST_WHEEL / 1e6:.0f} MB")
    figures = {variant: run_probe(variant) for variant in ("v2", "v3", "v4", "base")}
    found = {variant: values for variant, values in figures.items() if values is not None}
    if not found:
        sys.exit("no variant ran")
    reference = next(iter(found.values()))
    for variant, values in found.items():
        worst = max(abs(a - b) / max(abs(b), 1.0) for a, b in zip(values, reference, strict=True))
        if worst > 1e-8:
            sys.exit(f"variant {variant} differs from the others by {worst:.1e}")
    subprocess.run([sys.executable, "-c", "import mercer; mercer.show_versions()"], check=True)
    sys.stdout.write(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, variants {', '.join(found)} agree\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
