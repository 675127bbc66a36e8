"""What the papers measured, and what was measured of the measures: one program a question."""
