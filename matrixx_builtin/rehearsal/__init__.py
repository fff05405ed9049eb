"""Real host programs with a scripted model, offline: what the canary, the demo and the tests of hosts play in."""
