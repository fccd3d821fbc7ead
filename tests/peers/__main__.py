"""scikit-learn's own tests, as installed, under the patch: `python -m tests.peers [GROUP…] [--minutes 20] [--out FOLDER]`.

A group is a package of scikit-learn with tests (`linear_model`), or a test file of its own (`naive_bayes`). What fails for no
known reason is run once more without the patch: what fails there too says nothing. The table has the counts, FOLDER a file of
the failures of each group.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import sklearn

from tests.peers.reviewed import reviewed_kind

PEER = Path(sklearn.__file__).parent
ROOT = Path(__file__).parents[2]
KINDS = ("private", "words", "taken", "documented", "behaviour")


COLUMNS = ("group", "passed", "private names", "words", "taken here", "documented", "not documented", "ended")
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def groups() -> dict[str, Path]:
    """Where the tests of each group lie."""
    packages = {path.parent.name: path.parent for path in sorted(PEER.glob("*/tests")) if path.parent.name != "externals"}
    files = {path.stem.removeprefix("test_"): path for path in sorted(PEER.glob("tests/test_*.py"))}
    return packages | files


def run(path: Path | str, report: Path, minutes: float, *options: str) -> bool:
    """Run tests, a line of `report` each; whether they came to an end."""
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "tests/peers/pytest.ini"), f"--rootdir={PEER.parent}"]
    command += ["-p", "tests.peers.plugin", "-p", "no:cacheprovider", "-q", "--tb=short", "-W", "ignore", "--timeout=300"]
    command += [f"--report-to={report}", *options, str(path)]
    # The folder above `tests` is no package of scikit-learn's: its own `tests` are `sklearn.tests`.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
    try:
        with report.with_suffix(".log").open("w") as log:
            subprocess.run(command, env=env, cwd=ROOT, timeout=60 * minutes, check=False, stdout=log, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return False
    return True


def lines_of(report: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []


def run_group(name: str, path: Path, out: Path, minutes: float) -> dict[str, int | str]:
    """The row of a group: its counts, and its failures in the folder."""
    report = out / f"{name}.jsonl"
    has_ended = run(path, report, minutes)
    lines = lines_of(report)
    failed = {line["test"]: line for line in lines if line["outcome"] == "failed"}
    for line in failed.values():
        line["kind"] = reviewed_kind(name, line)
    if unknown := [test for test, line in failed.items() if line["kind"] == "behaviour"]:
        again, names = out / f"{name}.unpatched.jsonl", out / f"{name}.failed.txt"
        names.write_text("\n".join(str(PEER.parent / test) for test in unknown))
        run(f"@{names}", again, minutes, "--unpatched")
        for line in lines_of(again):
            if line["outcome"] == "failed":
                failed.pop(line["test"], None)
    (out / f"{name}.failures.jsonl").write_text("".join(json.dumps(line) + "\n" for line in failed.values()))
    kinds = Counter(line["kind"] for line in failed.values())
    passed = sum(line["outcome"] == "passed" for line in lines)
    return {"group": name, "passed": passed, **{kind: kinds[kind] for kind in KINDS}, "ended": "yes" if has_ended else "no"}


def main() -> None:
    known = groups()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="; ".join(known))
    parser.add_argument("--minutes", type=float, default=20, help="the longest that a group may take")
    parser.add_argument("--out", type=Path, default=Path("build/peer-tests"))
    chosen = parser.parse_args()
    for name in chosen.groups:
        if name not in known:
            parser.error(f"{name}: it must be one of {', '.join(known)}")
    chosen.out.mkdir(parents=True, exist_ok=True)
    print(HEAD, flush=True)  # noqa: T201
    for name in chosen.groups or known:
        row = run_group(name, known[name], chosen.out.resolve(), chosen.minutes)
        print("| " + " | ".join(map(str, row.values())) + " |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
