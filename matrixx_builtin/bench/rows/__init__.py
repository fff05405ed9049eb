"""One module a row of the goals."""
