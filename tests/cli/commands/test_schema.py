"""`zwang schema`: what model files may hold."""

import json
import tomllib

import jsonschema


def test_the_schema_is_a_schema_and_the_starter_obeys_it(zwang, here):
    schema = json.loads(zwang("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    zwang("new", "m")
    jsonschema.validate(tomllib.loads((here / "m.toml").read_text(encoding="utf-8")), schema)
