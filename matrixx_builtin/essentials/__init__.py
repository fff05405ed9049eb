"""Plugins that cannot be disabled (entry-point group ``matrixx.essentials``)."""
