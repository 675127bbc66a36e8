"""How long things take and how much memory, beside other libraries: verified, then timed."""
