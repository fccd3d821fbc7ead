"""scikit-learn's public names stand for Mercer's objects while the patch is on.

`_modules.py` says who is given what, `_callers.py` who is asking, `_replacements.py` which names there are, `_agreement.py`
which of them agree with scikit-learn's, `_listing.py` what of that is shown.
"""

from __future__ import annotations

from mercer._patching._listing import Patched as Patched, patched as patched
from mercer._patching._switch import Patch as Patch, patch_sklearn as patch_sklearn, unpatch_sklearn as unpatch_sklearn
