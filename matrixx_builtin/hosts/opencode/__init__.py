"""OpenCode 1.18: the adapter, the plugin file it installs, and the client for its API."""


def serve() -> None:
    """Answer one OpenCode process on standard input and output until it ends."""
    from .serve import main

    main()
