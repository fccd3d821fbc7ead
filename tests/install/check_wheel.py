"""Run by `make test` and `make wheel-check` in an environment that holds the wheel and its dependencies, nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

LARGEST_WHEEL = 25e6
PROBE = "--probe"

CLOSE = 1e-4  # rounding, which decides when a solver stops


def probe() -> None:
    """Fit every estimator, and print the mean square of each of its outputs: it depends on the variant by rounding alone."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    import numpy as np

    from mercer._native import variant
    from tests.common.cases import ESTIMATORS, make, make_data
    from tests.common.state import outputs

    figures = {}
    for estimator in ESTIMATORS:
        data = make_data(estimator)
        for name, values in outputs(make(estimator).fit(*data.args), data.X).items():
            if values.dtype.kind == "f":  # a label of a row between two classes is not a matter of rounding
                figures[f"{estimator.__module__.split('.')[1]}.{estimator.__name__}.{name}"] = float(np.square(values).mean())
    json.dump({"variant": variant, "figures": figures}, sys.stdout)


def run_probe(variant: str) -> dict[str, float] | None:
    """The figures from one variant, or None where it is not built or this processor cannot run it."""
    environment = {**os.environ, "MERCER_NATIVE": variant}
    done = subprocess.run([sys.executable, __file__, PROBE], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        if "is not a variant that this processor can run" in done.stderr:
            return None
        sys.exit(f"variant {variant} failed:\n{done.stderr}")
    answer = json.loads(done.stdout)
    if answer["variant"] != variant:
        sys.exit(f"asked for variant {variant}, got {answer['variant']}")
    return answer["figures"]


def check_files(wheel: Path) -> None:
    """Nothing that does not belong, and all that is read at run time."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    if strays := [name for name in names if not name.startswith(("mercer/", "mercer-"))]:
        sys.exit(f"the wheel holds files that do not belong to it: {strays}")
    read = {
        "mercer/datasets/data/penguins.csv",
        "mercer/_report/assets/report.js",
        "mercer/_serving/assets/serve.css",
        "mercer/_patching/differences.md",
    }
    if lacking := read - set(names):
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
        if differing := [name for name, value in values.items() if not abs(value - reference[name]) <= CLOSE * (1 + value)]:
            sys.exit(f"variant {variant} differs from the others in {', '.join(differing)}")
    subprocess.run([sys.executable, "-c", "import mercer; mercer.show_versions()"], check=True)
    sys.stdout.write(
        f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, variants {', '.join(found)} agree in {len(reference)} figures of "
        f"{len({name.split('.')[0] for name in reference})} families\n"
    )


if __name__ == "__main__":
    if sys.argv[1:] == [PROBE]:
        probe()
    else:
        main(Path(sys.argv[1]))
