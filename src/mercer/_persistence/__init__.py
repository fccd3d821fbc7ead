"""Models in files that hold data alone: see `docs/format.md`."""

from mercer._persistence.errors import FileFormatError
from mercer._persistence.models import load, save

__all__ = ["FileFormatError", "load", "save"]
