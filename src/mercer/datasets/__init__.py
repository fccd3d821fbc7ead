"""Small real tables that come with the library, each with its source and licence (see LICENSES.md beside this file)."""

from mercer.datasets._tables import Dataset, dataset_path, list_datasets, load_cars, load_dataset, load_election, load_penguins

__all__ = ["Dataset", "dataset_path", "list_datasets", "load_cars", "load_dataset", "load_election", "load_penguins"]
