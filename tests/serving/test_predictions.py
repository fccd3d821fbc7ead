"""What the service predicts and explains: what the command says, to the bit."""

from __future__ import annotations

import io
import shutil

import polars as pl
import pytest

from mercer.datasets import dataset_path
from tests.command.driver import run, run_json
from tests.serving.conftest import client_of
from tests.serving.samples import CAR, PENGUIN, penguin


def _csv(rows):
    return pl.DataFrame(rows).write_csv()


def _command(folder, text, run_path):
    (folder / "new.csv").write_text(text)
    done = run("predict", run_path, "new.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_row_has_the_bits_of_the_command(classes, classes_run, tmp_path):
    said = classes.post("/predict", json={"row": PENGUIN}).json()
    expected = pl.read_csv(io.StringIO(_command(tmp_path, _csv([PENGUIN]), classes_run))).to_dicts()[0]
    assert said["prediction"] == expected["prediction"]
    assert said["probabilities"] == {name: expected[f"probability_{name}"] for name in ("Adelie", "Chinstrap", "Gentoo")}
    assert expected["labels"] == "[" + ", ".join(f'"{label}"' for label in said["labels"]) + "]"
    assert said["warnings"] == []


def test_many_rows_have_the_bits_of_the_command(numbers, numbers_run, tmp_path):
    rows = [CAR, {**CAR, "weight": 2000, "year": "1982-01-01"}, {**CAR, "origin": None, "name": "ford"}]
    said = numbers.post("/predict", json={"rows": rows}).json()["predictions"]
    expected = pl.read_csv(io.StringIO(_command(tmp_path, _csv(rows), numbers_run)))
    assert [each["prediction"] for each in said] == expected["prediction"].to_list()
    assert [each["interval"]["lower"] for each in said] == expected["lower"].to_list()
    assert [each["interval"]["upper"] for each in said] == expected["upper"].to_list()
    assert {each["interval"]["coverage"] for each in said} == {0.9}


def test_a_file_is_answered_with_the_file_that_the_command_writes(classes, classes_run, tmp_path):
    text = dataset_path("penguins").read_text()
    response = classes.post("/predict", content=text, headers={"Content-Type": "text/csv", "Accept": "text/csv"})
    assert response.headers["content-type"].startswith("text/csv")
    assert response.text == _command(tmp_path, text, classes_run)
    said = classes.post("/predict", content=text, headers={"Content-Type": "text/csv; charset=utf-8"}).json()["predictions"]
    assert [each["prediction"] for each in said] == pl.read_csv(io.StringIO(response.text))["prediction"].to_list()


def test_values_of_every_type_have_the_bits_of_the_command(strange_client, strange):
    folder, table = strange
    table.drop("good").write_parquet(folder / "new.parquet")
    run("predict", "run", "new.parquet", "-o", "out.parquet", cwd=folder)
    expected = pl.read_parquet(folder / "out.parquet")
    rows = [
        {**row, "seen at": row["seen at"].isoformat(), "opens": str(row["opens"]), "took": row["took"].total_seconds()}
        for row in table.drop("good").to_dicts()
    ]
    said = strange_client.post("/predict", json={"rows": rows}).json()["predictions"]
    assert [each["prediction"] for each in said] == expected["prediction"].to_list()
    assert [each["probabilities"]["True"] for each in said] == expected["probability_True"].to_list()
    explained = strange_client.post("/explain", json={"row": rows[0]})
    assert explained.status_code == 200, explained.text
    assert {share["column"] for share in explained.json()["contributions"]} == set(rows[0])


def test_columns_that_the_model_does_not_use_may_be_given(classes):
    said = classes.post("/predict", json={"row": penguin(species="Gentoo")})
    assert said.json() == classes.post("/predict", json={"row": PENGUIN}).json()


def test_a_category_that_training_never_saw_is_warned_of(classes):
    said = classes.post("/predict", json={"row": penguin(island="Bisco")}).json()
    assert said["warnings"] == ["column 'island': 'Bisco' was not in training, which had 'Biscoe', 'Dream', 'Torgersen'."]
    text = _csv([penguin(island="Bisco"), PENGUIN])
    assert classes.post("/predict", content=text, headers={"Content-Type": "text/csv"}).json()["warnings"] == said["warnings"]


def test_a_cut_off_holds_as_it_does_for_the_command(strange, strange_client):
    folder, table = strange
    client = client_of(folder / "run", threshold=0.9)
    csv = table.drop("good").select(pl.exclude("took")).head(30).with_columns(took=pl.lit(None)).to_dicts()
    rows = [{**row, "seen at": str(row["seen at"]), "opens": str(row["opens"])} for row in csv]
    plain, strict = (c.post("/predict", json={"rows": rows}).json()["predictions"] for c in (strange_client, client))
    assert [each["prediction"] for each in strict] == [each["probabilities"]["True"] >= 0.9 for each in plain]
    assert client.get("/health").json()["threshold"] == 0.9


def test_an_explanation_is_that_of_the_command(classes, classes_run, tmp_path):
    said = classes.post("/explain", json={"row": PENGUIN}).json()
    (tmp_path / "new.csv").write_text(_csv([PENGUIN]))
    expected = run_json("explain", classes_run, "new.csv", "--row", "1", "-o", "page.html", cwd=tmp_path)
    for key in ("predicted", "output", "base", "contributions", "changes", "neighbour", "method", "goal"):
        assert said[key] == expected[key], key
    other = classes.post("/explain", json={"row": PENGUIN, "class": "Gentoo"}).json()
    assert other["label"] == "Gentoo" != said["label"]


def test_clusters_are_served(clusters, clusters_run, tmp_path):
    said = clusters.post("/predict", json={"row": {"species": "Adelie", **PENGUIN}})
    expected = pl.read_csv(io.StringIO(_command(tmp_path, _csv([{"species": "Adelie", **PENGUIN}]), clusters_run))).to_dicts()[
        0
    ]
    assert said.json()["cluster"] == expected["cluster"]
    for cluster, share in said.json().get("probabilities", {}).items():
        assert share == expected[f"probability_{cluster}"]
    refused = clusters.post("/explain", json={"row": PENGUIN})
    assert refused.status_code == 501
    assert "runs of `mercer train` are explained" in refused.json()["error"]
    assert "Cluster" in clusters.get("/").text


def test_a_run_without_training_rows_predicts_and_says_why_it_does_not_explain(classes_run, tmp_path):
    shutil.copytree(classes_run, tmp_path / "run", ignore=shutil.ignore_patterns("folds", "rows.parquet"))
    client = client_of(tmp_path / "run")
    assert client.post("/predict", json={"row": PENGUIN}).status_code == 200
    assert "keeps no training rows" in client.post("/explain", json={"row": PENGUIN}).json()["error"]
    page = client.post("/", data={f"c{place}": str(value) for place, value in enumerate(PENGUIN.values())})
    assert "There is no explanation" in page.text


@pytest.mark.parametrize("n", [1, 50])
def test_work_in_threads_gives_the_same_bits(classes, n):
    rows = [penguin(bill_length_mm=35 + 0.1 * i) for i in range(n)]
    alone = classes.post("/predict", json={"rows": rows}).json()
    again = [classes.post("/predict", json={"rows": rows}).json() for _ in range(5)]
    assert all(each == alone for each in again)
