"""The page of clusters: how many and why, what was compared, what sets each cluster apart."""

from __future__ import annotations

from collections.abc import Sequence

from mercer._report.clustering.content import Against, ClusterContent, Clustering, Preference, Profile, Trait
from mercer._report.numbers import NOTHING, count, number, parameters, percent, plural, seconds
from mercer._report.page import cluster_charts as charts, overview
from mercer._report.page.charts import strip
from mercer._report.page.frame import Section
from mercer._report.page.html import Child, Html, breakable, join, name, tag
from mercer._report.page.tables import Cell, Head, table

_MOST_LINES = 12
_BADGES = {"clear": "clear", "weak": "with caution", "none": "none found", "asked": "as asked", "unchecked": "not checked"}


def heading(content: ClusterContent) -> Html:
    """The title and the result in a sentence."""
    made = tag("p", f"Mercer {content['mercer']} report, {content['created']}", class_="overline")
    return tag("header", made, tag("h1", name(content["title"])), _lead(content), id="top")


def _lead(content: ClusterContent) -> Html:
    verdict, data = content["verdict"], content["data"]
    rows = plural(data["n_rows"], "row")
    if verdict["structure"] == "none":
        return tag("p", tag("strong", "No clusters"), f" were found among {rows}: they are one cloud.", class_="lead")
    noun = "group" if verdict["structure"] in ("asked", "unchecked") else "cluster"
    words: list[Html | str] = [tag("strong", plural(verdict["n_clusters"], noun)), f" of {rows}, by ", name(verdict["method"])]
    if verdict["structure"] == "asked":
        words.append(", as many as were asked for; they are no clusters that stand apart.")
    elif verdict["structure"] == "unchecked":
        words.append(". The run was ended before it was checked whether they are clusters.")
    elif verdict["structure"] == "weak":
        words.append(". There is more than chance, but they do not all come back when rows are left out.")
    else:
        words.append(". They are clearer than chance, and come back when rows are left out.")
    if verdict["n_noise"]:
        words.append(f" {plural(verdict['n_noise'], 'row')} {'is' if verdict['n_noise'] == 1 else 'are'} in none of them.")
    return tag("p", words, class_="lead")


def sections(content: ClusterContent) -> list[Section]:
    """The sections that the content has something for, in the order of the page."""
    found: list[Section | None] = [
        ("number", "How many clusters", _number(content)),
        ("map", "Map of the rows", charts.projection(content["projection"], content["profiles"])),
        ("apart", "What sets the clusters apart", _apart(content)) if content["verdict"]["n_clusters"] > 1 else None,
        ("against", "Against what was known", _against(content["against"])) if content["against"] else None,
        ("silhouettes-section", "Silhouettes", charts.silhouettes(content["silhouettes"])) if content["silhouettes"] else None,
        ("hierarchy", "Hierarchy", charts.dendrogram(content["dendrogram"])) if content["dendrogram"] else None,
        ("comparison", "Comparison", _comparison(content["clusterings"])) if content["clusterings"] else None,
        ("alerts", "Data", join(overview.alerts(content["alerts"]), _facts(content))),
        ("columns", "Columns", overview.columns(content["columns"])) if content["columns"] else None,
        ("making", "How it was made", _making(content)),
    ]
    return [section for section in found if section]


# ---- how many, and why


def _number(content: ClusterContent) -> Html:
    verdict = content["verdict"]
    badge = tag("span", _BADGES[verdict["structure"]], class_="badge")
    reading = tag("p", badge, " ", verdict["reading"], class_="reading")
    reasons = tag("ul", [tag("li", reason) for reason in verdict["reasons"]], class_="prose") if verdict["reasons"] else None
    return join(reading, reasons, charts.numbers(content["clusterings"]), _preferences(content["preferences"]))


def _preferences(rows: Sequence[Preference]) -> Html | None:
    if not rows:
        return None
    heads = [Head("Measure"), Head("Prefers", is_number=True), Head("By"), Head("Value", is_number=True)]
    lines = [
        [
            Cell(join(row["measure"], tag("p", f"{row['sense']} is best", class_="small muted"))),
            Cell(plural(row["n_clusters"], "cluster")),
            Cell(breakable(row["method"])),
            Cell(number(row["value"])),
        ]
        for row in rows
    ]
    words = "Each measure has a bias of its own: none of them decides alone."
    return join(
        tag("h3", "What each measure prefers"),
        table(heads, lines, caption="The number of clusters that each measure prefers"),
        tag("p", words, class_="small muted"),
    )


# ---- what was compared


def _comparison(rows: Sequence[Clustering]) -> Html:
    """The clusterings that were checked, and all others folded away."""
    shown = [row for row in rows if row["is_best"] or row["stability"] is not None][:_MOST_LINES] or list(rows[:_MOST_LINES])
    rest = [row for row in rows if row not in shown]
    words = (
        "Silhouettes are means over rows, noise counted as 0; “without” is what the method, or k-means, reaches at "
        "most in tables of "
        "the same shape that have no clusters; stability is the mean adjusted Rand index with the clusters of eight "
        "tenths of the rows."
    )
    words += (
        " After a method stands the number of clusters that it was asked for; after HDBSCAN the least share of the "
        "rows in a cluster, "
        "after DBSCAN min_samples and the rule for eps."
    )
    tail = None
    if rest:
        summary = tag("summary", f"{plural(len(rest), 'other clustering')}")
        tail = tag("details", summary, _clusterings(rest, "Other clusterings"))
    return join(tag("p", words, class_="prose"), _clusterings(shown, "Clusterings that were checked"), tail)


def _clusterings(rows: Sequence[Clustering], caption: str) -> Html:
    heads = [
        Head("Method", "text"), Head("Clusters", "number", True), Head("Silhouette", "number", True),
        Head("Without", "number", True), Head("Stability", "number", True), Head("Davies-Bouldin", "number", True),
        Head("Calinski-Harabasz", "number", True), Head("BIC", "number", True), Head("Noise", "number", True),
    ]  # fmt: skip
    lines = [_line(row, len(heads)) for row in rows]
    classes = ["best" if row["is_best"] else row["status"] for row in rows]
    return table(heads, lines, caption=caption, classes=classes)


def _line(row: Clustering, n_heads: int) -> list[Cell | Child]:
    badge = join(" ", tag("span", "chosen", class_="badge best")) if row["is_best"] else None
    label = tag("span", breakable(row["name"]), class_="model")
    reason = tag("p", row["reason"], class_="small muted") if row["reason"] else None
    if row["silhouette"] is None:
        return [Cell(join(label, badge), row["name"]), Cell(row["reason"] or NOTHING, span=n_heads - 1)]
    index, bic = row["calinski_harabasz"], row["bic"]
    return [
        Cell(join(label, badge, reason), row["name"]),
        Cell(count(row["n_clusters"]), row["n_clusters"]),
        Cell(number(row["silhouette"], 3), row["silhouette"]),
        Cell(number(row["reference_high"], 3), row["reference_high"]),
        Cell(number(row["stability"], 2), row["stability"]),
        Cell(number(row["davies_bouldin"], 2), row["davies_bouldin"]),
        Cell(number(index, 0 if index is not None and index >= 10 else 1), index),
        Cell(number(bic, 0), bic),
        Cell(percent(row["noise"]), row["noise"]),
    ]


# ---- what sets clusters apart


def _apart(content: ClusterContent) -> Html:
    words = (
        "Amounts are shown by median and quartiles; their effect is the difference of means between the cluster and "
        "all other rows, in "
        "standard deviations (Hedges' g). The effect of a category is the difference of its shares (Cohen's h). From "
        "0.8 on an effect is "
        "usually called large, below 0.2 small. What differs by less, or by no more than chance (p of 0.01 after "
        "Holm's correction for "
        "all comparisons), is left out. The clusters were made from these columns, so p-values say that a difference "
        "is not too small "
        "for the number of rows; they are no proof that the clusters exist."
    )
    return join(
        tag("p", words, class_="prose small"),
        _overview(content),
        [_profile(profile) for profile in content["profiles"]],
    )


def _overview(content: ClusterContent) -> Html | None:
    lines = content["overview"]
    if not lines:
        return None
    profiles = content["profiles"]
    heads = [Head("Column", "text")]
    heads += [
        Head(join(f"Cluster {profile['number']}", tag("p", percent(profile["share"]), class_="small muted")))
        for profile in profiles
    ]
    rows = [
        tag(
            "tr",
            tag("th", name(line["column"]), scope="row"),
            [_heat(cell, effect) for cell, effect in zip(line["cells"], line["effects"], strict=True)],
        )
        for line in lines
    ]
    head = tag("tr", [tag("th", each.label, scope="col") for each in heads])
    caption = tag("caption", "Median or most frequent value of each column in each cluster", class_="hidden")
    grid = tag("table", caption, tag("thead", head), tag("tbody", rows), class_="heat")
    note = "Blue: more than in the other rows; red: less. The columns that tell most come first."
    box = tag("div", grid, class_="scroll", role="region", aria_label="Overview of the clusters", tabindex=0)
    return join(tag("h3", "Overview: the median, or the most frequent value"), box, tag("p", note, class_="small muted"))


def _heat(cell: str, effect: float | None) -> Html:
    if effect is None:
        return tag("td", name(cell))
    heat = min(10, round(5 * abs(effect)))
    return tag("td", name(cell), class_=f"{'right' if effect >= 0 else 'wrong'} heat-{heat}" if heat else None)


def _profile(profile: Profile) -> Html:
    silhouette = profile["silhouette"]
    tells = f", mean silhouette {number(silhouette, 2)}" if silhouette is not None else ""
    title = tag(
        "h3",
        tag("span", charts.swatch(profile["number"]), class_="swatch"),
        f"Cluster {profile['number']}: {plural(profile['n'], 'row')} ({percent(profile['share'])}{tells})",
    )
    body = _traits(profile["traits"]) if profile["traits"] else tag("p", "No single column sets it apart.", class_="muted")
    return tag("div", title, body, _typical(profile), class_="profile")


def _traits(traits: Sequence[Trait]) -> Html:
    heads = [
        Head("Column", "text"), Head("In the cluster"), Head("In the other rows"), Head("Range", class_="wide"),
        Head("Effect", "number", True), Head("p", is_number=True),
    ]  # fmt: skip
    lines = [
        [
            Cell(
                join(name(trait["column"]), [" = ", name(trait["value"])] if trait["value"] is not None else None),
                trait["column"],
            ),
            Cell(name(trait["inside"])),
            Cell(name(trait["outside"])),
            Cell(_range(trait)),
            Cell(f"{'+' if trait['effect'] > 0 else ''}{number(trait['effect'], 2)}", trait["effect"]),
            Cell("< 0.001" if trait["p"] < 0.001 else number(trait["p"], 3)),
        ]
        for trait in traits
    ]
    return table(heads, lines, caption="What sets this cluster apart")


def _range(trait: Trait) -> Html | str:
    """Where the cluster lies in the range of the column."""
    low, middle, high = trait["low"], trait["middle"], trait["high"]
    if low is None or middle is None or high is None:
        return ""

    def at(share: float) -> str:
        return f"{6 + 108 * share:.1f}"

    parts = [
        tag("line", x1=6, y1=10, x2=114, y2=10, class_="grid"),
        tag("line", x1=at(low), y1=10, x2=at(high), y2=10, class_="whisker"),
        tag("circle", cx=at(middle), cy=10, r=4, class_="point"),
    ]
    return strip(parts, f"The middle half of the cluster lies between {percent(low)} and {percent(high)} of the range")


def _typical(profile: Profile) -> Html | None:
    if profile["typical_row"] is None:
        return None
    values: list[Html | str] = []
    for index, (column, value) in enumerate(list(profile["typical"].items())[:12]):
        values += [", " if index else "", name(column), " ", name(value or NOTHING)]
    return tag("p", f"A typical row, number {count(profile['typical_row'])}: ", values, class_="small muted")


def _against(found: Against | None) -> Html:
    assert found is not None
    words = (
        f"How the clusters lie to the values of {found['column']}, which were not used. The adjusted Rand index is "
        f"{number(found['adjusted_rand'], 2)} and the adjusted mutual information "
        f"{number(found['adjusted_mutual_information'], 2)}: "
        "1 is the same groups, 0 no more than chance."
    )
    corner = tag("th", name(found["column"]), scope="col")
    labels = [f"Cluster {number}" if number >= 0 else "None" for number in found["clusters"]]
    head = tag("tr", corner, [tag("th", label, scope="col") for label in labels])
    lines = [
        tag("tr", tag("th", name(group or NOTHING), scope="row"), [_share_cell(value, sum(row)) for value in row])
        for group, row in zip(found["groups"], found["matrix"], strict=True)
    ]
    caption = tag("caption", "Counts of rows, and their share of the group", class_="hidden")
    grid = tag("table", caption, tag("thead", head), tag("tbody", lines), class_="confusion")
    box = tag("div", grid, class_="scroll", role="region", aria_label="Clusters against known groups", tabindex=0)
    return join(tag("p", words, class_="prose"), box)


def _share_cell(value: int, total: int) -> Html:
    share = value / total if total else 0.0
    shown = tag("span", percent(share if total else None), class_="share")
    return tag(
        "td", tag("span", count(value), class_="count"), shown, class_=f"right heat-{round(10 * share) or int(value > 0)}"
    )


# ---- the data, and how it was made


def _facts(content: ClusterContent) -> Html:
    data = content["data"]
    compared = (
        f"all {count(data['n_rows'])} rows"
        if data["n_compared"] == data["n_rows"]
        else f"a sample of {count(data['n_compared'])} of {count(data['n_rows'])} rows, drawn once"
    )
    rows: list[tuple[str, Child]] = [
        ("Source", [name(data["source"])]),
        ("Size", [f"{plural(data['n_rows'], 'row')}, {plural(data['n_columns'], 'column')}"]),
        (
            "Methods see",
            [f"{plural(data['n_made'], 'column')} of numbers that were made of them; amounts in standard deviations"],
        ),
        ("Compared on", [compared]),
        ("Left out", [name(data["against"]), ", to be set against the clusters"] if data["against"] else []),
    ]
    return tag("dl", [tag("div", tag("dt", term), tag("dd", words)) for term, words in rows if words], class_="facts")


def _making(content: ClusterContent) -> Html:
    verdict, model = content["verdict"], content["model"]
    rows: list[tuple[str, Child]] = []
    if verdict["method"]:
        rows += [
            ("Method", [name(verdict["method"])]),
            ("Settings", [tag("code", parameters(verdict["settings"]) or "defaults")]),
        ]
    rows += [("New rows", [model["how"], _agreement(model["agreement"])])]
    rows += [("Labels", [tag("code", model["labels_file"]), ": the table with a column ", tag("code", model["label_column"])])]
    rows += [("Certificate of the fit", [content["certificate"]] if content["certificate"] else [])]
    rows += [("Command", [tag("code", content["command"])] if content["command"] else [])]
    rows += [("Time", [", ".join(f"{phase} {seconds(value)}" for phase, value in content["seconds"].items())])]
    shown = tag("dl", [tag("div", tag("dt", term), tag("dd", words)) for term, words in rows if words], class_="facts")
    lines = [*content["warnings"]]
    if not model["stored"]:
        lines.append("The model cannot be stored in a file yet: new rows cannot be labelled. The script repeats the clusters.")
    notes = join(tag("h3", "Notes and warnings"), tag("ul", [tag("li", line) for line in lines])) if lines else None
    return join(shown, notes)


def _agreement(share: float) -> Html | None:
    if share == 1:
        return None
    words = f"Of the rows that the clusters were made from, it gives {percent(share)} the cluster that they are in."
    return tag("span", words, class_="reason")
