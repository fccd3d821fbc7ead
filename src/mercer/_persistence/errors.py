"""What is raised where a file cannot be read as a model."""

from __future__ import annotations


class FileFormatError(ValueError):
    """A file is not a model that this version of Mercer can read: damaged, of another kind, or of a later version."""
