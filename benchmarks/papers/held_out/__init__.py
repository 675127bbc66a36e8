"""What held-out gain finds and what it finds falsely, by simulation; see __main__."""
