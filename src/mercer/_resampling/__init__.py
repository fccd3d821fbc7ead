"""What all resamplers share: strategies, tables in and out, neighbours, the way of one call."""
