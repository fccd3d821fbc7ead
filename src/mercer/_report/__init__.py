"""Reports: what is said of a fitted model, and the page that shows it."""

from mercer._report.card.words import card_of, serving_of
from mercer._report.clustering.content import ClusterContent
from mercer._report.content import Content, Costs, Description, Intervals
from mercer._report.costs import describe_costs
from mercer._report.cutoffs import Cutoff
from mercer._report.describe import PHASES, describe
from mercer._report.files import AnyContent, ReportError, check, dumps, is_of_clusters, read_json, write_json
from mercer._report.intervals import describe_intervals, describe_sets
from mercer._report.learning import Learner
from mercer._report.page import render_html, write_html, write_row_html

__all__ = [
    "PHASES",
    "AnyContent",
    "ClusterContent",
    "Content",
    "Costs",
    "Cutoff",
    "Description",
    "Intervals",
    "Learner",
    "ReportError",
    "card_of",
    "check",
    "describe",
    "describe_costs",
    "describe_intervals",
    "describe_sets",
    "dumps",
    "is_of_clusters",
    "read_json",
    "render_html",
    "serving_of",
    "write_html",
    "write_json",
    "write_row_html",
]
