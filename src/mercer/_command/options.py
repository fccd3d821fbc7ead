"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mercer._runs.reading import NULLS

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else, on standard output.")]
TimeOption = Annotated[str, typer.Option("--time", help="How long to search: 90s, 5m, 1h.")]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="The folder to write; it must be new.")]
TimeColumnOption = Annotated[
    str | None,
    typer.Option(
        "--time-column",
        help="Test on the last rows in time, by this column of dates or numbers, or ROWS: by the order of the file.",
    ),
]
NoTimeFlag = Annotated[bool, typer.Option("--no-time", help="Divide rows at random, even where their order is one in time.")]
GroupOption = Annotated[
    str | None, typer.Option(help="A column: rows of one value are never both learnt from and tested on. It is no feature.")
]
WeightsOption = Annotated[
    str | None, typer.Option(help="A column that says how much rows count, in fits, folds and the test. It is no feature.")
]
TestFileOption = Annotated[
    Path | None, typer.Option(help="Test on the rows of this file; all rows of DATA are then learnt from.")
]
RefitFlag = Annotated[
    bool, typer.Option("--refit", help="After the test, the final model learns from the test rows too; the tested one is kept.")
]
KindOption = Annotated[
    list[str], typer.Option(help="COLUMN=KIND: number, category, boolean, date, text, identifier. Repeatable.")
]
DropOption = Annotated[list[str], typer.Option(help="Columns to leave out. Repeatable, or separated by commas.")]
ModelTimeOption = Annotated[str | None, typer.Option(help="The most time for one fit of one model.")]
SeedOption = Annotated[int, typer.Option(help="Where random numbers begin.")]
SeparatorOption = Annotated[str | None, typer.Option(help="What separates the fields of a CSV file; found out by default.")]
DecimalCommaFlag = Annotated[bool, typer.Option("--decimal-comma", help="Numbers are written 1,5.")]
EncodingOption = Annotated[str, typer.Option(help="The encoding of a CSV file.")]
NullOption = Annotated[
    list[str], typer.Option(help=f"Texts that mean a missing value, instead of {', '.join(n for n in NULLS if n)}.")
]
ResumeOption = Annotated[Path | None, typer.Option(help="Go on with a run that was ended; all else is as it was.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")]
NewRows = Annotated[Path, typer.Argument(help="A CSV or Parquet file with the same columns; their order does not matter.")]
NewSeparatorOption = Annotated[str | None, typer.Option(help="What separates the fields of a CSV file.")]
NewEncodingOption = Annotated[str | None, typer.Option(help="The encoding of a CSV file.")]
