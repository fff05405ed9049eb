"""A scripted session of a coding agent, and what plays it."""
