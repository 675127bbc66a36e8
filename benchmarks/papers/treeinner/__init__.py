"""The experiments of Sun 2022, run again: Table 4, five sweeps, figures, claims, and a control."""
