"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mercer._runs.file_options import NULLS
from mercer._runs.settings import KINDS

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else, on standard output.")]
TimeOption = Annotated[str, typer.Option("--time", help="How long to search: 90s, 5m, 1h.")]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="The folder to write; it must be new.")]
KindOption = Annotated[
    list[str],
    typer.Option(help=f"COLUMN=KIND: {', '.join(KINDS)}. One of the kind identifier is left out. Repeatable."),
]
DropOption = Annotated[list[str], typer.Option(help="Columns to leave out. Repeatable, or separated by commas.")]
ModelTimeOption = Annotated[str | None, typer.Option(help="The most time for one fit of one model.")]
SeedOption = Annotated[int, typer.Option(help="Where random numbers begin.")]
SeparatorOption = Annotated[
    str | None, typer.Option(help="What separates the fields of a CSV file, such as ';' or tab; found out by default.")
]
DataArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[DATA]",
        help="A CSV, Parquet or Excel file, packed or not; - for standard input; or the name of an embedded table.",
    ),
]
DecimalCommaFlag = Annotated[bool, typer.Option("--decimal-comma", help="Numbers are written 1,5.")]
EncodingOption = Annotated[str | None, typer.Option(help="The encoding of a CSV file; found out by default.")]
SheetOption = Annotated[str | None, typer.Option(help="The sheet of an Excel file, by name or number; the first by default.")]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, help="The most threads to use. Results are the same bits with any number of them.")
]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on standard error but what went wrong.")]
ForceFlag = Annotated[bool, typer.Option("--force", help="Write over a file that exists, without asking.")]
NullOption = Annotated[
    list[str], typer.Option(help=f"Texts that mean a missing value, instead of {', '.join(n for n in NULLS if n)}.")
]
ResumeOption = Annotated[Path | None, typer.Option(help="Go on with a run that was ended; all else is as it was.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")]
NewRows = Annotated[
    Path, typer.Argument(help="A CSV, Parquet or Excel file with the same columns, in any order; - is standard input.")
]
NewSeparatorOption = SeparatorOption
NewEncodingOption = EncodingOption
