"""How training grows: its time, its peak memory, and the first call; see ``__main__``."""
