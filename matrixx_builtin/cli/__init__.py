"""The command ``matrixx``, a module a sub-command."""


def main() -> None:
    """Run the command line."""
