"""Rows in parts: tables that are not in memory as a whole, and the passes over them. Knows no estimator.

`passes.py` says what a pass is; `files.py`, `memory.py` and `collections.py` say where parts lie; `checks.py` makes of a user's
table what fits compute with; `answers.py` has predictions for it.
"""
