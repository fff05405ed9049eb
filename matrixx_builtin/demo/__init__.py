"""A recorded session of a real agent, and the script that plays it."""
