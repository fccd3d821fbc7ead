"""What a file is, is found out from its bytes: encodings, packings, sheets, standard input."""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import lzma
import sys
import zipfile

import polars as pl
import pytest

from mercer._runs.errors import DataError, RunError
from mercer._runs.files import spool
from mercer._runs.reading import FileOptions, RowFile, read_table, scan_pieces
from mercer.datasets import read_table as public_read_table

TEXT = 'name;price\n"Müller; ""Söhne""";1,5\n"zwei\nZeilen";2,5\n'
EXPECTED = {"name": ['Müller; "Söhne"', "zwei\nZeilen"], "price": [1.5, 2.5]}


def _write(folder, content, name):
    path = folder / name
    path.write_bytes(content)
    return path


def _zip(*members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("cp1252", "cp1252.*Müller"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("utf-32", "UTF-32"),
    ],
)
def test_encodings_are_guessed_and_a_guess_is_told(tmp_path, encoding, told):
    path = _write(tmp_path, TEXT.encode(encoding), "table.csv")
    read = read_table(path)
    assert read.table.to_dict(as_series=False) == EXPECTED
    guesses = [alert.message for alert in read.alerts if alert.column is None]
    assert len(guesses) == (told is not None)
    if told:
        assert pl.Series(guesses).str.contains(told).all()
        assert not read.is_plain
    assert pl.concat(piece.table for piece in scan_pieces(RowFile(path)))["price"].to_list() == ["1,5", "2,5"]
    assert read_table(path, FileOptions(encoding=encoding)).table.to_dict(as_series=False) == EXPECTED


def test_bytes_that_windows_lacks_are_latin_1(tmp_path):
    path = _write(tmp_path, "a;b\nM\u0081;1\nx;2\n".encode("latin-1"), "table.csv")
    assert read_table(path).table["a"].to_list() == ["M\u0081", "x"]


def _zstd(raw):
    return pytest.importorskip("zstandard").compress(raw)


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("table.csv.gz", gzip.compress),
        ("table.csv.bz2", bz2.compress),
        ("table.csv.xz", lzma.compress),
        ("table.csv.zst", _zstd),
        ("table.zip", lambda raw: _zip(("folder/", b""), ("folder/table.csv", raw), ("__MACOSX/._table.csv", b"x"))),
        ("table.csv", gzip.compress),  # whatever its name says
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_packed_files_are_read(tmp_path, name, pack, encoding):
    path = _write(tmp_path, pack(TEXT.encode(encoding)), name)
    assert read_table(path).table.to_dict(as_series=False) == EXPECTED
    assert RowFile(path).columns == ["name", "price"]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (_zip(("a.csv", "a\n1\n"), ("b.csv", "b\n1\n")), "table.zip", "holds 2 files .a.csv, b.csv"),
        (gzip.compress(TEXT.encode())[:-9], "table.csv.gz", "the packed file is damaged"),
        (bz2.compress(TEXT.encode())[:-9], "table.csv.bz2", "the packed file is damaged"),
        (lzma.compress(TEXT.encode())[:-9], "table.csv.xz", "the packed file is damaged"),
        (_zip(("a.csv", TEXT))[:-9], "table.zip", "the packed file is damaged"),
        (TEXT.encode(), "table.csv.gz", "its contents are not"),
        (b"PAR1 and no more", "table.parquet", "table.parquet"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "table.csv", "no text"),
    ],
    ids=["two files", "gz", "bz2", "xz", "zip", "no gz", "no parquet", "a picture"],
)
def test_damaged_and_unsuitable_files_are_one_line(tmp_path, content, name, message):
    with pytest.raises(DataError, match=message) as caught:
        read_table(_write(tmp_path, content, name))
    assert "\n" not in str(caught.value)


def test_sheets_are_read_as_they_are_stored(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    book = openpyxl.Workbook()
    first, second = book.active, book.create_sheet("Zweites")
    first.title = "Erstes"
    for row in [["key", "price", "day", None], ["007", "1.234,50 €", datetime.date(2024, 1, 31)], [], ["008", "2,00 €", None]]:
        first.append(row)
    second.append(["x"])
    second.append([1.5])
    book.create_sheet("Leer")
    book.save(tmp_path / "book.xlsx")
    path = tmp_path / "book.xlsx"
    read = read_table(path)
    assert read.table["key"].to_list() == ["007", "008"]
    assert read.table["price"].to_list() == [1234.5, 2.0]
    assert read.table["day"].cast(pl.Date).to_list() == [datetime.date(2024, 1, 31), None]
    assert read.numbers.tolist() == [1, 3]
    assert "'Erstes', the first of 3" in read.alerts[0].message
    for sheet in ("Zweites", "2"):
        assert read_table(path, FileOptions(sheet=sheet)).table.to_dict(as_series=False) == {"x": [1.5]}
    for sheet in ("Drittes", "4", "0"):
        with pytest.raises(RunError, match=f"--sheet {sheet}: .*'Zweites'"):
            read_table(path, FileOptions(sheet=sheet))
    with pytest.raises(DataError, match="'Leer' is empty"):
        read_table(path, FileOptions(sheet="Leer"))
    with pytest.raises(RunError, match=r"--sheet 1: .*has no sheets"):
        read_table(_write(tmp_path, b"a\n1\n", "table.csv"), FileOptions(sheet="1"))


@pytest.mark.parametrize(
    ("content", "name"),
    [(TEXT.encode(), "rows.csv"), (gzip.compress(TEXT.encode()), "rows.csv.gz"), (_zip(("a.csv", TEXT)), "rows.csv.zip")],
    ids=["plain", "gz", "zip"],
)
def test_standard_input_becomes_a_file_of_its_kind(tmp_path, monkeypatch, content, name):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    path = spool(tmp_path, "rows")
    assert path == tmp_path / name
    assert path.read_bytes() == content
    assert read_table(path).table.to_dict(as_series=False) == EXPECTED


def test_no_standard_input_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match="standard input is empty"):
        spool(tmp_path, "rows")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(RunError, match="standard input is a terminal"):
        spool(tmp_path, "rows")


def test_python_reads_the_same(tmp_path):
    path = _write(tmp_path, TEXT.encode("cp1252"), "table.csv")
    assert public_read_table(path).to_dict(as_series=False) == EXPECTED
    assert public_read_table(path, nulls=["1,5"])["price"].to_list() == [None, 2.5]
