"""`python -m zwang` is the command `zwang`."""

from zwang.cli import main

if __name__ == "__main__":
    main()
