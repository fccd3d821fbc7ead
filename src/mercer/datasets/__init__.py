"""Small real tables that come with the library, each with its source and licence (see LICENSES.md beside this file)."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.datasets import *  # noqa: F403

    from mercer.datasets._files import read_table as read_table
    from mercer.datasets._tables import (
        Dataset as Dataset,
        dataset_path as dataset_path,
        list_datasets as list_datasets,
        load_cars as load_cars,
        load_dataset as load_dataset,
        load_election as load_election,
        load_penguins as load_penguins,
    )

__getattr__, __dir__ = exports(
    __name__,
    {
        "._files": ("read_table",),
        "._tables": ("Dataset", "dataset_path", "list_datasets", "load_cars", "load_dataset", "load_election", "load_penguins"),
    },
)
