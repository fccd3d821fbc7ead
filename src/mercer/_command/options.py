"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mercer._runs.errors import RunError
from mercer._runs.file_options import NULLS
from mercer._runs.settings import KINDS

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
CostsOption = Annotated[
    str | None,
    typer.Option(
        help="Costs of mistakes that the predicted label goes by: FN=5,FP=1 (the second class is the positive one), or a file."
    ),
]
RefitFlag = Annotated[
    bool, typer.Option("--refit", help="After the test, the final model learns from the test rows too; the tested one is kept.")
]
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
ResumeOption = Annotated[
    Path | None, typer.Option(help="Go on with a run; all else is as it was. --time gives it more, beyond what it has spent.")
]
DataOption = Annotated[
    Path | None, typer.Option("--data", help="With --resume: where the file of the data is now, if it was moved.")
]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")]
NewRows = Annotated[
    Path, typer.Argument(help="A CSV, Parquet or Excel file with the same columns, in any order; - is standard input.")
]
NewSeparatorOption = SeparatorOption
NewEncodingOption = EncodingOption


def is_given(context: typer.Context, name: str) -> bool:
    """Whether the user gave a parameter, be it its default."""
    source = context.get_parameter_source(name)
    return source is not None and not source.name.startswith("DEFAULT")


def refuse_others(context: typer.Context, *allowed: str) -> None:
    """Refuse options that a run which is resumed would ignore: it is as it was begun, but for those that are allowed."""
    for parameter in context.command.params:
        if parameter.name in ("resume", "as_json", *allowed) or not is_given(context, parameter.name or ""):
            continue
        if parameter.param_type_name == "argument":
            given = context.params[parameter.name or ""]
            raise RunError(f"{given}: a run that is resumed knows its data; --data FILE names where they are now.")
        raise RunError(f"{parameter.opts[0]}: a run that is resumed is as it was begun; leave this out, or begin a new run.")


def refuse_without_resume(data: Path | None) -> None:
    """`--data` is for runs that are resumed."""
    if data is not None:
        raise RunError(f"--data {data}: this goes with --resume. A new run is given its data without a flag.")
