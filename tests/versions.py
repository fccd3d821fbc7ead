"""Marks for tests whose oracle is scikit-learn itself: Mercer follows 1.9, and older versions differ from it or lack a name."""

from __future__ import annotations

import pytest

from mercer._compat import SCIKIT_LEARN

against_scikit_learn_1_9 = pytest.mark.skipif(SCIKIT_LEARN < (1, 9), reason="compares with scikit-learn 1.9")
