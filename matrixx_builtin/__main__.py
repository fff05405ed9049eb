"""``python -m matrixx_builtin``: the command line with exactly this interpreter."""

from .cli import main

if __name__ == "__main__":
    main()
