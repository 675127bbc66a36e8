"""How often the command is right about tables whose truth is known; see __main__."""
