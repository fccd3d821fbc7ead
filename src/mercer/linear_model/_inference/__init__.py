"""What an unpenalised fit says about its coefficients, and what residuals say about its assumptions."""
