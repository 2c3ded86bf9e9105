"""Model files to models: every mistake is collected, located and reported together."""

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath

from zwang.errors import InputError, ModelFileError
from zwang.files.library import find_model
from zwang.files.model_file import ModelFile
from zwang.files.reader import Reader
from zwang.files.robots import is_robot, load_robot
from zwang.files.tables import table_names
from zwang.files.toml.document import Document, parse_document
from zwang.files.toml.problems import file_error
from zwang.files.toml.source import file_text

MECHANICAL = ("bodies", "joints", "gravity", "springs", "elements", "scenery", "start")  # sections of a mechanism


def load_model(
    path: str | os.PathLike[str], *, packages: Mapping[str, str | os.PathLike[str]] | None = None
) -> ModelFile:
    """The model in a file, or an example by its name; `ModelFileError` lists every mistake with its line and column.

    `load_model("andrews")` is the example, unless there is a file called so; `zwang examples` lists them.

    Opening a file from a stranger is safe: expressions are read by a small grammar with a white list of functions and
    are bounded in size; nothing in the file is executed, and of other files only CSV tables in the same folder are
    read. A robot in URDF or MJCF is read, too, with the files that it names in its own folder; for URDF, `packages` are
    the folders of `package://` by name.
    """
    path = find_model(path)[0]
    if is_robot(path):
        return load_robot(path, packages=packages)
    if packages:
        raise InputError("packages are for robots in URDF: a model file has none")
    return read_model(file_text(path), path)


def load_model_with(path: str | os.PathLike[str], values: Mapping[str, float]) -> ModelFile:
    """The model in a file, its places by these values: as `load_model(path).with_parameters(values)`.

    A mechanism is put together once, as it is wanted, and not as the file has it first. Other values, and names that
    the model does not have, are the caller's to look after.
    """
    path = find_model(path)[0]
    text = file_text(path)
    document = parse_document(text, str(path))
    return document_model(document, text, path, {name: values[name] for name in values if name in placing(document)})


def placing(document: Document) -> set[str]:
    """The parameters of a document that places of a mechanism depend on."""
    if document.slips or not is_mechanical(document):
        return set()
    from zwang.files.mechanisms import place_names  # models without bodies do not wait for all of multibody

    return place_names(document.data, document.data.get("definitions", {})) & {*document.data.get("parameters", {})}


def read_model(
    text: str, path: str | os.PathLike[str] | None = None, parameters: Mapping[str, float] | None = None
) -> ModelFile:
    """The model in a text; `path` says what messages call it, and in which folder its CSV tables are.

    `parameters` are values by name in place of the text's own.

    >>> model = read_model('''
    ... [coordinates]
    ... x = { start = 1.0 }
    ... [energy]
    ... kinetic = "x'^2/2"
    ... potential = "x^2/2"
    ... [run]
    ... until = 3.14159
    ... ''')
    >>> model.simulate().q.values[-1].round(3)
    array([-1.])
    """
    path = None if path is None else FilePath(path)
    return document_model(parse_document(text, "<model>" if path is None else str(path)), text, path, parameters)


def document_model(
    document: Document, text: str, path: FilePath | None, parameters: Mapping[str, float] | None = None
) -> ModelFile:
    """The model in a document that is parsed already; it may be read again, with other values of parameters."""
    reader = Reader(document.again(), path, parameters or {})
    if document.slips and is_mechanical(document):  # what a part lacks, the others do not make sense without
        reader.document.raise_problems()
    reader.require_given()
    try:
        model = lower(reader)
        reader.document.raise_problems()
    except ModelFileError:
        raise
    except Exception as error:
        reader.document.trouble((), error)
        raise file_error(reader.document.problems) from None
    model = replace(
        model,
        description=document.data.get("description", "").strip(),
        text=text,
        path=path,
        tables=table_names(document.data),
        rebuilt=partial(document_model, document, text, path),
    )
    object.__setattr__(model, "as_read", model)
    return model


def lower(reader: Reader) -> ModelFile:
    """The model by its bodies, or by its coordinates."""
    if is_mechanical(reader.document):
        from zwang.files.bodies import model_of_bodies  # models without bodies do not wait for all of multibody

        return model_of_bodies(reader)
    return reader.of_coordinates()


def is_mechanical(document: Document) -> bool:
    """Whether a document describes bodies."""
    return any(key in document.data for key in MECHANICAL)
