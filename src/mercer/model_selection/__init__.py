"""Splits, searches and the whole protocol of learning."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.model_selection import *  # noqa: F403

    from mercer._tuning import (
        Choices as Choices,
        Halving as Halving,
        Integers as Integers,
        JointSweep as JointSweep,
        OutOfBagSweep as OutOfBagSweep,
        OutOfBagView as OutOfBagView,
        Reals as Reals,
        Sweep as Sweep,
    )
    from mercer.model_selection._evaluate.evaluate import evaluate as evaluate
    from mercer.model_selection._evaluate.evaluation import Evaluation as Evaluation
    from mercer.model_selection._thresholds.classifier import TunedThresholdClassifier as TunedThresholdClassifier
    from mercer.model_selection._tune.result import TuneResult as TuneResult
    from mercer.model_selection._tune.trial import Trial as Trial
    from mercer.model_selection._tune.tune import tune as tune

__getattr__, __dir__ = exports(
    __name__,
    {
        "mercer._tuning": ("Choices", "Halving", "Integers", "JointSweep", "OutOfBagSweep", "OutOfBagView", "Reals", "Sweep"),
        "._evaluate.evaluate": ("evaluate",),
        "._evaluate.evaluation": ("Evaluation",),
        "._thresholds.classifier": ("TunedThresholdClassifier",),
        "._tune.result": ("TuneResult",),
        "._tune.trial": ("Trial",),
        "._tune.tune": ("tune",),
    },
)
