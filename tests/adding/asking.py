"""What toys are asked, whatever they are: by the command, and by calls that should refuse."""

from typer.testing import CliRunner

from zwang.cli.app import app
from zwang.errors import InputError


def command(*words):
    """What the command prints."""
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "300"}).output


def refusal(call, *args, **options):
    """The words of a call that refuses; None if it does not."""
    try:
        call(*args, **options)
    except InputError as error:
        return str(error)
