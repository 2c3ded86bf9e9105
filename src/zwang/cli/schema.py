"""`zwang schema`: what a model file may say, as a JSON Schema for editors."""


def schema() -> None:
    """Print the JSON Schema of model files, for editors."""
    import json

    from zwang.cli.terminal import emit
    from zwang.files.schema import json_schema

    emit(json.dumps(json_schema(), indent=2, ensure_ascii=False))
