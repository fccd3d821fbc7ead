"""Tables from files: dialects are found out, and anything wrong is one clear line."""

from __future__ import annotations

import gzip

import polars as pl
import pytest

from mercer._runs.errors import DataError, RunError
from mercer._runs.reading import FileOptions, RowFile, read_table, scan_pieces

EXPECTED = {"a": [1.5, 2.5], "b": ["x", None]}


def _write(folder, content, name="table.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("a,b\n1.5,x\n2.5,\n", FileOptions()),
        ("a;b\n1.5;x\n2.5;NA\n", FileOptions()),
        ("a\tb\n1.5\tx\n2.5\tNone\n", FileOptions()),
        ("a|b\n1.5|x\n2.5|?\n", FileOptions()),
        ("\ufeffa,b\n1.5,x\n2.5,\n", FileOptions()),
        ("a,b\r\n1.5,x\r\n2.5,\r\n", FileOptions()),
        ("a,b\n1.5,x\n\n2.5,\n", FileOptions()),
        ('"a","b"\n"1.5","x"\n2.5,\n', FileOptions()),
        ("a;b\n1,5;x\n2,5;\n", FileOptions(decimal_comma=True)),
        ("a,b\n1.5,x\n2.5,none at all\n", FileOptions(nulls=("none at all",))),
    ],
)
def test_dialects_of_csv_give_the_same_table(tmp_path, content, options):
    path = _write(tmp_path, content)
    assert read_table(path, options).table.to_dict(as_series=False) == EXPECTED
    assert RowFile(path, options).columns == ["a", "b"]
    written = pl.concat(piece.table for piece in scan_pieces(RowFile(path, options)))
    assert [text.replace(",", ".") for text in written["a"]] == ["1.5", "2.5"]


def test_other_encodings_and_packed_files_and_parquet_are_read(tmp_path):
    path = _write(tmp_path, "a,b\n1,ü\n".encode("latin-1"))
    assert read_table(path, FileOptions(encoding="latin-1")).table["b"].to_list() == ["ü"]
    packed = _write(tmp_path, gzip.compress("a,b\n1,ü\n".encode()), "table.csv.gz")
    assert read_table(packed).table["b"].to_list() == ["ü"]
    assert RowFile(packed).columns == ["a", "b"]
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "table.parquet")
    assert read_table(tmp_path / "table.parquet").table["a"].to_list() == [1]
    assert RowFile(tmp_path / "table.parquet").columns == ["a"]


def test_rows_are_numbered_as_in_their_file(tmp_path):
    table, numbers = read_table(_write(tmp_path, "a,b\n\n1,x\n,\n\n2,\n"))
    assert table["a"].to_list() == [1, 2]
    assert numbers.tolist() == [2, 5]
    pl.DataFrame({"a": [1, None, 3]}).write_parquet(tmp_path / "table.parquet")
    assert read_table(tmp_path / "table.parquet").numbers.tolist() == [1, 2, 3]


def test_types_are_found_from_all_rows_and_dates_are_dates(tmp_path):
    rows = "".join(f"{number},2024-01-{1 + number % 28:02d}\n" for number in range(20_000))
    table = read_table(_write(tmp_path, f"a,when\n{rows}1.5,2024-02-01\n")).table
    assert table.schema == {"a": pl.Float64, "when": pl.Date}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("a,b\n", "header and no rows"),
        ("\n1,2\n", "first line is blank"),
        ("a,b\n1,2\n3\n", "line 3 has 1 fields where the header has 2"),
        ("a,b\n1,2,3\n", "line 2 has 3 fields where the header has 2"),
        ('a,b\n"x,2\n', "line 2"),
        ("a,b,a\n1,2,3\n", "'a' stands more than once in the header"),
        ("a, a\n1,2\n", "'a' stands more than once in the header"),
        ("a,,c\n1,2,3\n", "column 2 has no name"),
        ("a,b\n1,é\n".encode() + b"1,\xff\n", "byte 11 .0xff. is not utf-8.*--encoding"),
        ("a,b\n1,é\n".encode() + b"1,2\n" * 9_000 + b"1,\xff\n", "byte 36011 .0xff. is not UTF-8.*--encoding"),
        (b"\x00\x01\x02", "no text"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line_that_says_where(tmp_path, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read_table(_write(tmp_path, content))
    assert "\n" not in str(caught.value)
    assert "table.csv" in str(caught.value)


def test_what_is_no_table_is_refused(tmp_path):
    for name, message in [("missing.csv", "no such file"), (".", "not a file")]:
        with pytest.raises(DataError, match=message):
            read_table(tmp_path / name)
    with pytest.raises(DataError, match="cannot be read"):
        read_table(_write(tmp_path, "a", "table.doc"))
    with pytest.raises(DataError, match=r"its name says \.xlsx"):
        read_table(_write(tmp_path, "a", "table.xlsx"))
    with pytest.raises(DataError, match=r"table\.parquet"):
        read_table(_write(tmp_path, "a,b\n1,2\n", "table.parquet"))
    with pytest.raises(DataError, match="its name says that it is packed"):
        read_table(_write(tmp_path, "a,b\n1,2\n", "table.csv.gz"))
    with pytest.raises(DataError, match=r"is not utf-8.*--encoding"):
        read_table(_write(tmp_path, b"a\n\xff\n"), FileOptions(encoding="utf-8"))
    for name in ("klingon", "hex", "undefined", ""):
        with pytest.raises(RunError, match="no such encoding"):
            FileOptions(encoding=name)


def test_a_table_without_rows_has_no_batches(tmp_path):
    path = _write(tmp_path, "a,b\n")
    with pytest.raises(DataError, match="header and no rows"):
        list(scan_pieces(RowFile(path)))
    pl.DataFrame({"a": []}).write_parquet(tmp_path / "table.parquet")
    with pytest.raises(DataError, match="header and no rows"):
        list(scan_pieces(RowFile(tmp_path / "table.parquet")))


def test_batches_come_in_order_and_bounded(tmp_path):
    path = _write(tmp_path, "a,b\n" + "".join(f"{number},x\n" for number in range(10_000)))
    pieces = list(scan_pieces(RowFile(path), n_rows=1_000))
    assert len(pieces) >= 10
    assert pl.concat(piece.table for piece in pieces)["a"].to_list() == [str(number) for number in range(10_000)]
    assert [number for piece in pieces for number in piece.numbers] == list(range(1, 10_001))
