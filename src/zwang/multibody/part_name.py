"""Names of bodies, joints and force elements in messages."""


class PartName(str):
    """The name of a class of parts, in a message of which it is one part: a model file calls the same thing otherwise.

    >>> from zwang.errors import Said
    >>> Said("use ", PartName("PointOnLine"))
    'use PointOnLine'
    """
