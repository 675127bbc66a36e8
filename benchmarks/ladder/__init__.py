"""From two nested loops to the product's search, one idea a rung; docs/ladder.md is the text."""
