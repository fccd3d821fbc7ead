"""Reports: what is said of a fitted model, and the page that shows it."""

from mercer._report.clustering.content import ClusterContent
from mercer._report.content import Content, Description
from mercer._report.describe import PHASES, describe
from mercer._report.files import AnyContent, ReportError, check, dumps, is_of_clusters, read_json, write_json
from mercer._report.page import render_html, write_html, write_row_html

__all__ = [
    "PHASES",
    "AnyContent",
    "ClusterContent",
    "Content",
    "Description",
    "ReportError",
    "check",
    "describe",
    "dumps",
    "is_of_clusters",
    "read_json",
    "render_html",
    "write_html",
    "write_json",
    "write_row_html",
]
