"""`python -m zklake` is `zklake`."""

from zklake.cli.main import main

if __name__ == "__main__":
    main()
