"""Mercer: classical machine learning, complete, certified and fast, under scikit-learn's API."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn import (
        clone as clone,
        config_context as config_context,
        get_config as get_config,
        set_config as set_config,
    )

    from mercer import (
        base as base,
        bayes as bayes,
        calibration as calibration,
        callback as callback,
        cluster as cluster,
        combine as combine,
        compose as compose,
        conformal as conformal,
        covariance as covariance,
        cross_decomposition as cross_decomposition,
        datasets as datasets,
        decomposition as decomposition,
        discriminant_analysis as discriminant_analysis,
        dummy as dummy,
        ensemble as ensemble,
        exceptions as exceptions,
        experimental as experimental,
        feature_extraction as feature_extraction,
        feature_selection as feature_selection,
        frozen as frozen,
        gaussian_process as gaussian_process,
        hmm as hmm,
        impute as impute,
        inspection as inspection,
        isotonic as isotonic,
        kernel_approximation as kernel_approximation,
        kernel_regression as kernel_regression,
        kernel_ridge as kernel_ridge,
        kernels as kernels,
        linear_model as linear_model,
        losses as losses,
        manifold as manifold,
        metrics as metrics,
        mixture as mixture,
        model_selection as model_selection,
        multiclass as multiclass,
        multioutput as multioutput,
        naive_bayes as naive_bayes,
        neighbors as neighbors,
        neural_network as neural_network,
        optim as optim,
        over_sampling as over_sampling,
        penalties as penalties,
        pipeline as pipeline,
        plots as plots,
        preprocessing as preprocessing,
        random_projection as random_projection,
        rl as rl,
        semi_supervised as semi_supervised,
        svm as svm,
        theory as theory,
        tree as tree,
        under_sampling as under_sampling,
        utils as utils,
    )
    from mercer._parts.files import PartedTable as PartedTable, read_parts as read_parts
    from mercer._patching import (
        Patch as Patch,
        Patched as Patched,
        patch_sklearn as patch_sklearn,
        patched as patched,
        unpatch_sklearn as unpatch_sklearn,
    )
    from mercer._persistence import FileFormatError as FileFormatError, load as load, save as save
    from mercer._show_versions import show_versions as show_versions
    from mercer._versions import VersionWarning as VersionWarning

__version__ = "0.1.0"

# Everything loads when first used: `import mercer` itself imports nothing else.
__getattr__, __dir__ = exports(
    __name__,
    {
        "._parts.files": ("PartedTable", "read_parts"),
        "._patching": ("Patch", "Patched", "patch_sklearn", "patched", "unpatch_sklearn"),
        "._persistence": ("FileFormatError", "load", "save"),
        "._show_versions": ("show_versions",),
        "._versions": ("VersionWarning",),
    },
)
