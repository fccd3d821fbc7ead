"""What all boosting shares: learners, members fitted one after another, what is kept of each stage."""
