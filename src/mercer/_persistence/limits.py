"""Bounds that writer and reader share, so that a file cannot make a reader run for ever or out of memory."""

MAX_DEPTH = 100  # of values in one another, and of objects in one another
MAX_OBJECTS = 10_000_000  # counting an object as often as it is referred to, by others that are referred to, and so on
MAX_HEADER = 100_000_000  # bytes, as in the safetensors package
MAX_COLLISIONS = 100  # keys of one dict with the same hash
SAFE_INTEGER = 2**53  # larger integers are not the same in every reader of JSON

# The methods whose metadata scikit-learn routes.
METHODS = (
    "fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score", "split", "transform",
    "inverse_transform",
)  # fmt: skip

# Attributes of estimators that are no part of a model: they are set for a fit, or stored in another way.
TRANSIENT = ("_skl_callbacks", "_parent_callback_ctx", "_metadata_request")
