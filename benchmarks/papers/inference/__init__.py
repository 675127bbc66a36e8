"""What standard errors and p-values of held-out rows are worth, by simulation; see __main__."""
