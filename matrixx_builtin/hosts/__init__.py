"""Adapters: one host program each (entry-point group ``matrixx.hosts``)."""
