"""For which rows a model does worse: values of columns, compared with all other rows."""
