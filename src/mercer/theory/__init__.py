"""Theory that runs: bounds on the risk, complexity, stability, bias and variance, the Bayes error."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from mercer.theory._bayes import (
        BayesBracket as BayesBracket,
        BayesError as BayesError,
        bayes_error as bayes_error,
        bracket_bayes_error as bracket_bayes_error,
    )
    from mercer.theory._bias_variance import (
        BiasVariance as BiasVariance,
        bias_variance as bias_variance,
        bootstrap_bias_variance as bootstrap_bias_variance,
    )
    from mercer.theory._bound import Bound as Bound
    from mercer.theory._classes import (
        VC as VC,
        FiniteClass as FiniteClass,
        Massart as Massart,
        RealizableFiniteClass as RealizableFiniteClass,
        RealizableVC as RealizableVC,
        growth_function as growth_function,
    )
    from mercer.theory._complexities import (
        BoostingMargin as BoostingMargin,
        EmpiricalRademacher as EmpiricalRademacher,
        Margin as Margin,
        Rademacher as Rademacher,
    )
    from mercer.theory._concentration import (
        Bernstein as Bernstein,
        EmpiricalBernstein as EmpiricalBernstein,
        Hoeffding as Hoeffding,
        McDiarmid as McDiarmid,
    )
    from mercer.theory._descriptions import Compression as Compression, Occam as Occam
    from mercer.theory._diagnosis import (
        FitDiagnosis as FitDiagnosis,
        diagnose_fit as diagnose_fit,
    )
    from mercer.theory._double_descent import DoubleDescent as DoubleDescent, double_descent as double_descent
    from mercer.theory._ensembles import (
        EnsembleDecomposition as EnsembleDecomposition,
        ensemble_decomposition as ensemble_decomposition,
    )
    from mercer.theory._excess_risk import (
        ExcessRisk as ExcessRisk,
        excess_risk as excess_risk,
    )
    from mercer.theory._known_stability import KnownStability as KnownStability
    from mercer.theory._laws import ClassificationLaw as ClassificationLaw, RegressionLaw as RegressionLaw
    from mercer.theory._neighbors_bound import DeletedNeighbors as DeletedNeighbors
    from mercer.theory._pac_bayes import Catoni as Catoni, McAllester as McAllester, Seeger as Seeger
    from mercer.theory._rademacher import (
        RademacherComplexity as RademacherComplexity,
        rademacher_complexity as rademacher_complexity,
    )
    from mercer.theory._sample_size import sample_size as sample_size
    from mercer.theory._shattering import VCDimension as VCDimension, shatters as shatters, vc_dimension as vc_dimension
    from mercer.theory._stability import Stability as Stability, stability as stability
    from mercer.theory._stability_bounds import RegularizedLoss as RegularizedLoss, UniformStability as UniformStability
    from mercer.theory._structural_risk import (
        StructuralRisk as StructuralRisk,
        structural_risk_minimization as structural_risk_minimization,
    )
    from mercer.theory._table import BoundEntry as BoundEntry, BoundTable as BoundTable, bound as bound
    from mercer.theory._test_sets import BinomialTest as BinomialTest

__getattr__, __dir__ = exports(
    __name__,
    {
        "._bayes": (
            "BayesBracket",
            "BayesError",
            "bayes_error",
            "bracket_bayes_error",
        ),
        "._bias_variance": (
            "BiasVariance",
            "bias_variance",
            "bootstrap_bias_variance",
        ),
        "._bound": ("Bound",),
        "._classes": ("FiniteClass", "Massart", "RealizableFiniteClass", "RealizableVC", "VC", "growth_function"),
        "._complexities": ("BoostingMargin", "EmpiricalRademacher", "Margin", "Rademacher"),
        "._concentration": ("Bernstein", "EmpiricalBernstein", "Hoeffding", "McDiarmid"),
        "._descriptions": ("Compression", "Occam"),
        "._diagnosis": (
            "FitDiagnosis",
            "diagnose_fit",
        ),
        "._double_descent": (
            "DoubleDescent",
            "double_descent",
        ),
        "._ensembles": (
            "EnsembleDecomposition",
            "ensemble_decomposition",
        ),
        "._excess_risk": (
            "ExcessRisk",
            "excess_risk",
        ),
        "._known_stability": ("KnownStability",),
        "._laws": (
            "ClassificationLaw",
            "RegressionLaw",
        ),
        "._neighbors_bound": ("DeletedNeighbors",),
        "._pac_bayes": ("Catoni", "McAllester", "Seeger"),
        "._rademacher": (
            "RademacherComplexity",
            "rademacher_complexity",
        ),
        "._sample_size": ("sample_size",),
        "._shattering": ("VCDimension", "shatters", "vc_dimension"),
        "._stability": (
            "Stability",
            "stability",
        ),
        "._stability_bounds": ("RegularizedLoss", "UniformStability"),
        "._structural_risk": (
            "StructuralRisk",
            "structural_risk_minimization",
        ),
        "._table": ("BoundEntry", "BoundTable", "bound"),
        "._test_sets": ("BinomialTest",),
    },
    peers=(),
)
