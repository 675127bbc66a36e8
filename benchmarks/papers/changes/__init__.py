"""How often what changed is found, and how often something is found that did not; see __main__."""
