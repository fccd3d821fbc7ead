"""Reports: what is said of a fitted model, and the page that shows it."""

from mercer._report.content import Content, Description
from mercer._report.describe import PHASES, describe
from mercer._report.files import ReportError, check, dumps, read_json, write_json
from mercer._report.page import render_html, write_html

__all__ = [
    "PHASES",
    "Content",
    "Description",
    "ReportError",
    "check",
    "describe",
    "dumps",
    "read_json",
    "render_html",
    "write_html",
    "write_json",
]
