"""How a node chooses its split: one policy a file, all of them asked and answered alike."""
