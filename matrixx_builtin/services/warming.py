"""Do beforehand what the first calls would wait for: load the shell's grammar, compile the usual patterns."""

from importlib import import_module


def warm() -> None:
    """Blocks for about 100 ms; for a thread beside the work."""
    from .redaction import redact  # these take a while to load, and whoever asks for `warm` is still starting
    from .sensitive import SecretFileSettings, place_of, secret_files

    import_module("tree_sitter_bash")
    import_module("tree_sitter")
    secret_files([place_of("/")], SecretFileSettings(), "/")
    redact("")
