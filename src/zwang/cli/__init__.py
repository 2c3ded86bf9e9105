"""The command `zwang`: from a model file to equations, a verdict, a motion and pictures."""


def main() -> None:
    """Run the command."""
    try:
        from zwang.cli.streams import prepare

        prepare()
        from zwang.cli.error_boundary import terminate_cleanly

        terminate_cleanly()
        from zwang.cli.app import app

        app(prog_name="zwang")
    except KeyboardInterrupt:  # before the commands, which deal with it themselves, were loaded
        raise SystemExit(130) from None
    except Exception as error:  # likewise
        from zwang.errors import lacks_memory

        if not lacks_memory(error):
            raise
        import sys

        sys.stderr.write("error: not enough memory\n")
        raise SystemExit(1) from None
