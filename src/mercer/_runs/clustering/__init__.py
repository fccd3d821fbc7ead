"""A run of `mercer cluster`: from a table without a target to clusters that were compared, checked and described."""
