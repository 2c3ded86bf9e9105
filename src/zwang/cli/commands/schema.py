"""`zwang schema`: what a model file may say, as a JSON Schema for editors."""


def schema() -> None:
    """Print the JSON Schema of model files, for editors."""
    from zwang.cli.terminal import emit_json
    from zwang.files.schema import json_schema

    emit_json(json_schema())
