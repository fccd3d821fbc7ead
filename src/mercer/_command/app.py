"""The commands and their options. What they do is in `mercer._runs`."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console
from rich.text import Text

from mercer import _command
from mercer._command.compare import compare_command
from mercer._command.explain import explain_command
from mercer._command.failures import clear_errors, told_of_run
from mercer._command.fitting import TableColumn, fitted_table
from mercer._command.options import (
    CostsOption,
    DataArgument,
    DataOption,
    DecimalCommaFlag,
    DropOption,
    EncodingOption,
    GroupOption,
    JsonFlag,
    KindOption,
    ModelTimeOption,
    NoTimeFlag,
    NullOption,
    OutOption,
    QuietFlag,
    RefitFlag,
    ResumeOption,
    RunPath,
    SeedOption,
    SeparatorOption,
    SheetOption,
    TestFileOption,
    ThreadsOption,
    TimeColumnOption,
    TimeOption,
    WeightsOption,
    is_given,
    refuse_others,
    refuse_without_resume,
)
from mercer._command.predict import predict_command
from mercer._command.quantities import bytes_of, range_of, seconds_of
from mercer._command.run import RUN_SETTINGS, run_command
from mercer._command.serve import serve_command
from mercer._command.streams import progress_console, result_console, width_of
from mercer._command.threads import thread_limit
from mercer._command.views import ClusterView, RunView, cluster_board, cluster_sizes, describe_test, leaderboard
from mercer._runs.errors import RunError
from mercer._runs.file_options import NULLS, FileOptions
from mercer._runs.folder import RunFolder
from mercer._runs.resuming import GoingOn, go_on
from mercer._runs.settings import ClusterSettings, Settings

if TYPE_CHECKING:  # what takes a second to import is imported where it is used: help and mistakes are answered at once
    from mercer._report import ClusterContent
    from mercer._runs.clustering.run import ClusterOutcome
    from mercer._runs.training import Outcome

app = typer.Typer(
    help="Classical machine learning from a file to a tested, explained and reported model, or to clusters.\n\n"
    "Exit codes: 0 done; 1 a fault of Mercer; 2 the request cannot be met; 3 the data cannot be used; 4 every model failed; "
    "130 interrupted before the end.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
DEFAULT_TABLE = "penguins"


def _show_version(is_asked: bool) -> None:
    if is_asked:
        import mercer

        typer.echo(f"mercer {mercer.__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


def _pairs(texts: list[str], flag: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign or not name or not value:
            raise RunError(f"{flag} {text!r}: it must be COLUMN=KIND, such as zip=category.")
        pairs[name] = value
    return pairs


def _names(texts: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


@app.command("train")
def train_command(
    context: typer.Context,
    data: DataArgument = None,
    target: Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.")] = None,
    time: TimeOption = "2m",
    metric: Annotated[
        str | None, typer.Option(help="By which measure to compare models, such as roc_auc, f1, rmse, mae.")
    ] = None,
    out: OutOption = None,
    task: Annotated[str | None, typer.Option(help="classification or regression, where the guess is wrong.")] = None,
    kind: KindOption = [],  # noqa: B006
    drop: DropOption = [],  # noqa: B006
    models: Annotated[list[str], typer.Option(help="Try these models only. Repeatable, or separated by commas.")] = [],  # noqa: B006
    exclude: Annotated[list[str], typer.Option(help="Models not to try. Repeatable, or separated by commas.")] = [],  # noqa: B006
    model_time: ModelTimeOption = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 5,
    test_size: Annotated[float | None, typer.Option(help="The share of rows kept for the test; 0.2 by default.")] = None,
    test_file: TestFileOption = None,
    time_column: TimeColumnOption = None,
    no_time: NoTimeFlag = False,
    group: GroupOption = None,
    weights: WeightsOption = None,
    costs: CostsOption = None,
    refit: RefitFlag = False,
    intervals: Annotated[
        float | None,
        typer.Option(
            help="Predict with intervals (sets of labels, for classes) that hold the truth for this share of rows: 0.9."
        ),
    ] = None,
    max_size: Annotated[str, typer.Option(help="How large the model may be in a file, such as 20MB or 1GB.")] = "50MB",
    seed: SeedOption = 0,
    separator: SeparatorOption = None,
    decimal_comma: DecimalCommaFlag = False,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
    null: NullOption = [],  # noqa: B006
    resume: ResumeOption = None,
    data_file: DataOption = None,
    threads: ThreadsOption = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Compare, tune, test and explain models of a column, and write a folder with the best one and its report.

    Without DATA an embedded table of penguins is used.
    """
    with clear_errors(as_json=as_json):
        if resume is not None:
            refuse_others(context, "time", "data_file", "test_file", "threads", "quiet")
            more = seconds_of(time, "--time") if is_given(context, "time") else None
            settings, path = go_on(resume, Settings, GoingOn(more, data_file, test_file)), resume
        else:
            from mercer._runs.decision import read_costs

            refuse_without_resume(data_file)
            if test_file is not None and test_size is not None:
                raise RunError(f"--test-size {test_size:g}: the test rows are those of --test-file.")
            settings = Settings(
                *_data_and_target(data, target),
                task=task,
                metric=metric,
                seconds=seconds_of(time, "--time"),
                model_seconds=None if model_time is None else seconds_of(model_time, "--model-time"),
                folds=folds,
                test_size=Settings.test_size if test_size is None else test_size,
                test_file=None if test_file is None else str(test_file),
                time_column=time_column,
                is_timeless=no_time,
                group=group,
                weights=weights,
                costs=None if costs is None else read_costs(costs),
                is_refitted=refit,
                intervals=intervals,
                max_size=bytes_of(max_size, "--max-size"),
                seed=seed,
                models=_names(models),
                exclude=_names(exclude),
                kinds=_pairs(kind, "--kind"),
                drop=_names(drop),
                file=FileOptions(separator, decimal_comma, encoding, ("", *null) if null else NULLS, sheet),
            )
            path = out or _free_folder("input" if settings.source == "-" else Path(settings.source).stem)
        from mercer._runs.training import Watchers, train

        command = shlex.join(["mercer", *sys.argv[1:]])
        view = RunView(progress_console(), settings.seconds, is_quiet=as_json or quiet)
        watch = Watchers(view.problem, view.board, view.phase)
        with told_of_run(path, "train"), thread_limit(threads), view.showing():
            outcome = train(settings, path, command=command, resume=resume is not None, watch=watch, begun=_command.begun)
        if as_json:
            typer.echo(json.dumps(_summary(outcome), allow_nan=False))
        else:
            _show_outcome(result_console(), outcome)


def _data_and_target(data: str | None, target: str | None) -> tuple[str, str]:
    """Both as given; an embedded table knows its own target."""
    from mercer.datasets import list_datasets, load_dataset

    source = data or DEFAULT_TABLE
    if target is not None:
        return source, target
    if source in list_datasets() and not Path(source).exists():
        return source, load_dataset(source, frame=None).target
    raise RunError("--target is missing: which column is to be predicted?")


def _free_folder(stem: str) -> Path:
    """run-STEM, or the first of run-STEM-2, -3 … that does not exist."""
    names = (Path(f"run-{stem}" + (f"-{number}" if number > 1 else "")) for number in range(1, 10_000))
    return next(path for path in names if not path.exists())


def _summary(outcome: Outcome) -> dict[str, Any]:
    content = outcome.content
    return {
        "run": str(outcome.folder.path),
        "model": str(outcome.folder.model),
        "report": str(outcome.folder.report_html),
        "script": str(outcome.folder.script("train")),
        "interrupted": outcome.is_interrupted,
        **{key: content[key] for key in ("data", "alerts", "leaderboard", "best", "test")},
        "intervals": content.get("intervals"),
        "costs": content.get("costs"),
        "tested_model": str(outcome.folder.tested_model) if content.get("refit") else None,
    }


def _show_outcome(console: Console, outcome: Outcome) -> None:
    _show_report(console, outcome.content)
    folder = outcome.folder
    others = {
        folder.tested_model: "the model that was tested; the other has learned from the test rows too",
        folder.sample: f"what explains predictions: mercer explain {folder.path} new.csv --row 1",
        folder.script("train"): "the same model as plain code",
    }
    _show_files(console, outcome, others)


def _show_files(console: Console, outcome: Outcome | ClusterOutcome, others: Mapping[Path, str]) -> None:
    """What the run has left, and whether it could go on."""
    folder = outcome.folder
    if outcome.is_interrupted:
        command = folder.read_plan().settings.command
        console.print(f"interrupted: this is the best so far; `mercer {command} --resume` goes on", style="yellow")
    console.print()
    files = {
        folder.report_html: "the report: open it in a browser",
        folder.model: f"the model: mercer predict {folder.path} new.csv -o out.csv",
        **others,
    }
    for path, what in files.items():
        if path.exists():
            console.print(f"{path}  ", what, markup=False, highlight=False, soft_wrap=True)


def _show_report(console: Console, content: Any) -> None:
    from mercer._runs.board import Entry
    from mercer._runs.metric import Metric

    stored = content["data"]["metric"]
    metric = Metric(stored["name"], stored["label"], stored["is_loss"], stored["reason"])
    fields = ("model", "status", "fit_seconds", "predict_us_per_row", "size_bytes", "n_trials", "params", "reason")
    entries = [
        Entry(**{name: row[name] for name in fields}, fold_scores=tuple(row["fold_scores"])) for row in content["leaderboard"]
    ]
    console.print(leaderboard(entries, metric, width=width_of(console), best=content["best"]["model"]))
    console.print()
    console.print(describe_test(content["test"], width_of(console)))
    if costs := content.get("costs"):
        console.print()
        console.print(Text(costs["reading"]))
    if found := content.get("intervals"):
        console.print()
        console.print(Text(found["reading"].replace("\N{NO-BREAK SPACE}", "")))  # 90%, as above, and not cut in two


@app.command("cluster")
def cluster_command(
    context: typer.Context,
    data: DataArgument = None,
    clusters: Annotated[str, typer.Option(help="How many clusters: a range to choose from, or a number.")] = "2-10",
    against: Annotated[
        str | None, typer.Option(help="A column of known groups: it is left out, and the clusters are set against it.")
    ] = None,
    time: TimeOption = "1m",
    out: OutOption = None,
    kind: KindOption = [],  # noqa: B006
    drop: DropOption = [],  # noqa: B006
    models: Annotated[
        list[str],
        typer.Option(help="Try these methods only, such as KMeans, mixture, density. Repeatable, or separated by commas."),
    ] = [],  # noqa: B006
    exclude: Annotated[list[str], typer.Option(help="Methods not to try. Repeatable, or separated by commas.")] = [],  # noqa: B006
    model_time: ModelTimeOption = None,
    seed: SeedOption = 0,
    separator: SeparatorOption = None,
    decimal_comma: DecimalCommaFlag = False,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
    null: NullOption = [],  # noqa: B006
    resume: ResumeOption = None,
    data_file: DataOption = None,
    threads: ThreadsOption = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Find clusters in a table without a target: how many, why, and what sets each apart; or say that there are none.

    Compares k-means, Gaussian mixtures, density and hierarchical clustering, and writes a folder with the labels, a report, a
    model for new rows and a script. Without DATA an embedded table of penguins is used.
    """
    with clear_errors(as_json=as_json):
        if resume is not None:
            refuse_others(context, "time", "data_file", "threads", "quiet")
            more = seconds_of(time, "--time") if is_given(context, "time") else None
            settings, path = go_on(resume, ClusterSettings, GoingOn(more, data_file)), resume
        else:
            refuse_without_resume(data_file)
            source = data or DEFAULT_TABLE
            settings = ClusterSettings(
                source,
                clusters=range_of(clusters, "--clusters"),
                against=against or _known_classes(source, _names(drop)),
                seconds=seconds_of(time, "--time"),
                model_seconds=None if model_time is None else seconds_of(model_time, "--model-time"),
                seed=seed,
                models=_names(models),
                exclude=_names(exclude),
                kinds=_pairs(kind, "--kind"),
                drop=_names(drop),
                file=FileOptions(separator, decimal_comma, encoding, ("", *null) if null else NULLS, sheet),
            )
            path = out or _free_folder("input" if settings.source == "-" else Path(settings.source).stem)
        from mercer._runs.clustering.run import ClusterWatchers, cluster

        view = ClusterView(progress_console(), settings.seconds, is_quiet=as_json or quiet)
        with told_of_run(path, "cluster"), thread_limit(threads), view.showing():
            outcome = cluster(
                settings,
                path,
                command=shlex.join(["mercer", *sys.argv[1:]]),
                resume=resume is not None,
                watch=ClusterWatchers(view.table, view.board, view.phase),
            )
        if as_json:
            typer.echo(json.dumps(_cluster_summary(outcome), allow_nan=False))
        else:
            _show_cluster_outcome(result_console(), outcome)


def _known_classes(source: str, dropped: tuple[str, ...]) -> str | None:
    """Embedded tables that have classes know them: they are no part of what is clustered."""
    from mercer.datasets import list_datasets, load_dataset

    if source not in list_datasets() or Path(source).exists():
        return None
    table = load_dataset(source, frame=None)
    is_class = table.split()[1].dtype.kind not in "if"
    return table.target if is_class and table.target not in dropped else None


def _cluster_summary(outcome: ClusterOutcome) -> dict[str, Any]:
    content, folder = outcome.content, outcome.folder
    return {
        "run": str(folder.path),
        "labels": str(outcome.labels),
        "model": str(folder.model) if content["model"]["stored"] else None,
        "report": str(folder.report_html),
        "script": str(folder.script("cluster")),
        "interrupted": outcome.is_interrupted,
        "sizes": [profile["n"] for profile in content["profiles"]],
        **{key: content[key] for key in ("data", "alerts", "verdict", "preferences", "clusterings", "against")},
    }


def _show_cluster_outcome(console: Console, outcome: ClusterOutcome) -> None:
    _show_clusters(console, outcome.content)
    others = {
        outcome.labels: f"the table with a column {outcome.content['model']['label_column']}",
        outcome.folder.script("cluster"): "the same clusters as plain code",
    }
    _show_files(console, outcome, others)


def _show_clusters(console: Console, content: ClusterContent) -> None:
    verdict = content["verdict"]
    best = next((row["name"] for row in content["clusterings"] if row["is_best"]), None)
    rows = [row for row in content["clusterings"] if row["stability"] is not None]
    console.print(cluster_board(rows, width=width_of(console), most=12 if console.is_terminal else len(rows), best=best))
    console.print()
    console.print(Text(verdict["reading"], style="" if verdict["structure"] == "clear" else "yellow"))
    if verdict["n_clusters"] > 1:
        console.print()
        console.print(cluster_sizes(content["profiles"], content["data"]["n_rows"], verdict["n_noise"], width_of(console)))


app.command("predict")(predict_command)
app.command("explain")(explain_command)
app.command("run", context_settings=RUN_SETTINGS)(run_command)
app.command("compare")(compare_command)
app.command("serve")(serve_command)


@app.command("report")
def report_command(
    run: RunPath,
    should_open: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show the result of a run again, and write its page anew."""
    from mercer._report import is_of_clusters, write_html

    with clear_errors(as_json=as_json):
        folder = RunFolder.existing(run)
        content = folder.read_report()
        write_html(content, folder.report_html)
        if as_json:
            typer.echo(json.dumps(content, allow_nan=False))
        else:
            console = result_console()
            if is_of_clusters(content):
                _show_clusters(console, cast("ClusterContent", content))
            else:
                _show_report(console, content)
            console.print(f"\n{folder.report_html}", markup=False, highlight=False, soft_wrap=True)
        if should_open:
            typer.launch(str(folder.report_html))


@app.command("models")
def models_command(
    task: Annotated[str | None, typer.Option(help="classification, regression or clustering; all by default.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """List the models that `train` and `cluster` know, and what they search in each."""
    from mercer._runs.candidates import of_task
    from mercer._runs.clustering.methods import METHODS

    with clear_errors(as_json=as_json):
        tasks = ("classification", "regression", "clustering") if task is None else (task,)
        if task not in (None, "classification", "regression", "clustering"):
            raise RunError(f"--task {task}: it must be classification, regression or clustering.")
        rows: list[dict[str, Any]] = [
            {
                "model": name,
                "task": kind,
                "searched": sorted(cls._search_space or {}),
                "about": (cls.__doc__ or "").splitlines()[0],
            }
            for kind in tasks
            if kind != "clustering"
            for name, cls in of_task(kind).items()
        ]
        if "clustering" in tasks:
            rows += [
                {"model": method.name, "task": "clustering", "searched": list(method.variants([2])[0]), "about": method.about}
                for method in METHODS
            ]
        if as_json:
            typer.echo(json.dumps(rows))
            return
        console = result_console()
        cells = {key: [row[key] for row in rows] for key in ("model", "task", "about")}
        searched = [", ".join(row["searched"]) for row in rows]
        columns = [
            TableColumn("model", cells["model"]),
            TableColumn("task", cells["task"]),
            TableColumn("searched", searched, rank=1, wraps=True),
            TableColumn("about", cells["about"], wraps=True),
        ]
        console.print(fitted_table(columns, width_of(console)), soft_wrap=not console.is_terminal)


@app.command("info")
def info_command(as_json: JsonFlag = False) -> None:
    """Print versions, the native variant, threads and BLAS, for a bug report."""
    import mercer
    from mercer._show_versions import found_versions

    with clear_errors(as_json=as_json):
        if as_json:
            typer.echo(json.dumps(found_versions()))
        else:
            mercer.show_versions()
