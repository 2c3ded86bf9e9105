"""The kinds of bodies, joints and force elements in model files: the classes of `multibody`, with their arguments.

A key has the name of the argument. What a place is made of is a number, computed from parameters; what is a
constant, a force or a motion stays an expression.
"""

from zwang.files.table_types import Key, Kind

SOLIDS = Key("solids", "solids", "boxes, balls, cylinders, … for the picture, in body axes", of="number")
OUTLINE = Key("outline", "points", "corners for the picture, in body axes", of="parameters")

BODY_KEYS = {
    key.name: key
    for key in (
        Key("mass", "expression", "its mass", of="parameters"),
        Key("inertia", "inertia", "about the centre of mass: one moment in the plane; in space three principal "
            "moments, or a 3×3 matrix in body axes", of="parameters"),
        Key("position", "point", "of the centre of mass, at the start", of="number"),
        Key("orientation", "quaternion", "what takes body axes to world axes at the start, scalar first", of="number"),
        Key("angle", "expression", "how far it is turned at the start", of="number"),
        Key("velocity", "point", "of the centre of mass, at the start", of="number"),
        Key("angular_velocity", "point", "at the start, in world axes", of="number"),
        Key("spin", "expression", "angular velocity at the start", of="number"),
        OUTLINE,
        SOLIDS,
    )
}  # fmt: skip

JOINT_KEYS = {
    key.name: key
    for key in (
        Key("first", "body", "a body, or ground", "ground"),
        Key("second", "body", "a body, or ground"),
        Key("at", "place", "where it is: a world point at the start, or a pair of points in body axes", of="number"),
        Key("axis", "place", "its axis: in the world at the start, or a pair in body axes", of="number"),
        Key("normal", "place", "normal of the plane: in the world at the start, or a pair in body axes", of="number"),
        Key("axes", "places", "the axis on the first body and that on the second, in the world", of="number"),
        Key("direction", "place", "of the blade: in the world at the start, or a pair in body axes", of="number"),
        Key("reading", "expression", "what its angle or travel reads at the start", 0, of="number"),
        Key("orientation", "quaternion", "from the second body's axes to the first's", of="number"),
        Key("start", "point", "its end on the first body, in the world at the start", of="number"),
        Key("end", "point", "its end on the second body, in the world at the start", of="number"),
        Key("length", "expression", "its length; as far as its ends are apart at the start", of="time"),
        Key("pitch", "expression", "travel of a turn", of="parameters"),
        Key("radius", "expression", "its radius", of="parameters"),
        Key("radii", "pair", "of the first wheel and the second", of="parameters"),
        Key("centre", "point", "of the wheel or ball, in the world at the start; the centre of mass", of="number"),
        Key("inside", "truth", "whether the smaller wheel rolls in the larger one", False),
        Key("curve", "point", "places on the first body, in its axes, in the name that `parameter` says", of="local"),
        Key("parameter", "name", "the name that the curve runs with"),
        Key("span", "pair", "between which values the curve is drawn", of="number"),
        Key("surface", "expression", "what is zero on the surface, in the names that `symbols` say", of="local"),
        Key("symbols", "names", "names of a place on the first body, in its axes"),
        Key("steps", "steps", "hinges and slides, one after another", of="number"),
    )
}
CONTACT_KEYS = {
    key.name: key
    for key in (
        JOINT_KEYS["first"],
        JOINT_KEYS["second"],
        Key("normal", "place", "of the first body's plane: in the world at the start, to where the second is",
            of="number"),
        Key("radius", "expression", "of the second body's ball or disc; 0 for a point", 0, of="parameters"),
        Key("radii", "pair", "of round surfaces, the first body's and the second's", of="parameters"),
        Key("axis", "place", "of the first body's cylinder, in the world at the start", of="number"),
        Key("inside", "truth", "whether the second is inside the first, in a bowl or a pipe", False),
        Key("at", "point", "a point of the plane, or the first's centre: in the world at the start", of="number"),
        Key("centre", "point", "of the second's ball, in the world at the start; the centre of mass", of="number"),
        Key("corners", "points", "points of the second that touch, in body axes", of="parameters"),
        Key("box", "point", "edges of a box whose corners touch, about the centre of mass", of="parameters"),
        Key("rim", "place", "axis of the second's thin disc, in the world at the start", of="number"),
        Key("restitution", "expression", "of impacts, from 0 (plastic) to 1 (elastic)", 0, of="parameters"),
        Key("friction", "one or two", "the coefficient of friction, or those of sticking and of sliding", 0,
            of="parameters"),
    )
}  # fmt: skip
ON_CURVE = Key("start", "expression", "where it starts on the curve, roughly", 0, of="number")
POINT_AT = Key("at", "point", "a point of the plane, in the world at the start", of="number")
CENTRES = Key("at", "places", "the wheels' centres, in body axes; their centres of mass", of="parameters")
ROD_ENDS = Key("at", "places", "in place of start and end: a point on each body, in body axes", of="parameters")

RULE_KEYS = {
    key.name: key
    for key in (
        Key("joint", "joint", "a joint"),
        Key("coordinate", "text", "which of the joint's coordinates, where it has several"),
        Key("motion", "expression", "what the coordinate is; `start` is what it reads at the start", of="driven"),
        Key("speed", "expression", "what its rate is", of="time"),
        Key("factors", "factors", "a factor a joint, or a joint's coordinate", of="parameters"),
        Key("value", "expression", "of the sum", 0, of="time"),
        Key("first", "selection", "a joint, or a joint's coordinate"),
        Key("second", "selection", "a joint, or a joint's coordinate"),
        Key("ratio", "expression", "second angle over first", of="parameters"),
        Key("pinion", "selection", "the pinion's joint"),
        Key("rack", "selection", "the rack's joint"),
        Key("radius", "expression", "the pinion's", of="parameters"),
        Key("radii", "pair", "of the first wheel and the second", of="parameters"),
        Key("crossed", "truth", "whether the wheels turn in opposite senses", False),
        Key("expressions", "conditions", "left = right, or several by name", of="constraint"),
        Key("lower", "expression", "the lower end of its range; open without it", of="parameters"),
        Key("upper", "expression", "the upper end", of="parameters"),
        Key("restitution", "expression", "of impacts at its ends, from 0 (plastic) to 1 (elastic)", 0, of="parameters"),
    )
}

FORCE_KEYS = {
    key.name: key
    for key in (
        Key("body", "body", "on which it acts"),
        Key("joint", "joint", "along which it acts"),
        Key("first", "body", "a body, or ground", "ground"),
        Key("second", "body", "a body, or ground"),
        Key("start", "point", "its end on the first body, in the world at the start", of="number"),
        Key("end", "point", "its end on the second body, in the world at the start", of="number"),
        ROD_ENDS,
        Key("stiffness", "expression", "force or torque per length or angle", 0, of="time"),
        Key("rest", "expression", "where it does not pull; its start", of="time"),
        Key("damping", "expression", "force or torque per speed", 0, of="motion"),
        Key("force", "expression", "the tension, of `length` and `rate`, in place of stiffness, rest and damping",
            of="tension"),
        Key("color", "text", "its colour in pictures", "green"),
        Key("components", "components", "along the axes; in the plane a torque is one number", of="motion"),
        Key("point", "point", "where it acts, in body axes; the centre of mass", of="parameters"),
        Key("frame", "text", "whose axes the components are along", "world", ("world", "body")),
        Key("effort", "expression", "the torque or force", of="motion"),
        Key("coordinate", "text", "which of the joint's coordinates, where it has several"),
        Key("coefficient", "expression", "torque or force per speed", of="motion"),
        Key("mu", "expression", "coefficient of friction, of the force that the joint carries", of="parameters"),
        Key("radius", "expression", "of a pin that rubs", of="parameters"),
        Key("inertia", "expression", "inertia along the coordinate", of="parameters"),
        Key("linear", "expression", "force per speed", 0, of="motion"),
        Key("quadratic", "expression", "force per speed squared", 0, of="motion"),
        Key("turning", "expression", "torque per angular velocity", 0, of="motion"),
    )
}  # fmt: skip


def kind(keys: dict[str, Key], name: str, part: str, meaning: str, needed: str, further: str = "", *own: Key) -> Kind:
    """A kind with its keys by name; `own` are keys that mean something else here."""
    known = keys | {key.name: key for key in own}
    first, more = (tuple(known[word] for word in words.split()) for words in (needed, further))
    return Kind(name, part, meaning, first, more)


BODIES = (
    kind(BODY_KEYS, "body", "Body", "a rigid body in space", "mass inertia",
         "position orientation velocity angular_velocity outline solids"),
    kind(BODY_KEYS, "planar", "PlanarBody", "a rigid body in the plane", "mass inertia",
         "position angle velocity spin outline"),
    kind(BODY_KEYS, "particle", "Particle", "a point with mass", "mass", "position velocity outline"),
    kind({}, "moving", "Moving", "a body whose motion is prescribed", "", "position axis angle outline solids",
         Key("position", "point", "where it is, in time", of="prescribed"),
         Key("axis", "point", "about which it turns, in space", of="number"),
         Key("angle", "expression", "how far it is turned, in time", 0, of="prescribed"),
         OUTLINE, SOLIDS),
)  # fmt: skip

JOINTS = (
    kind(JOINT_KEYS, "revolute", "Revolute", "a pin", "second at", "first axis reading"),
    kind(JOINT_KEYS, "prismatic", "Prismatic", "a slider", "second at axis", "first reading"),
    kind(JOINT_KEYS, "cylindrical", "Cylindrical", "a shaft in a sleeve", "second at axis", "first"),
    kind(JOINT_KEYS, "spherical", "Spherical", "a ball in a socket", "second at", "first"),
    kind(JOINT_KEYS, "universal", "Universal", "Cardan's joint", "second at axes", "first"),
    kind(JOINT_KEYS, "planar", "Planar", "a face on a face", "second at normal", "first"),
    kind(JOINT_KEYS, "fixed", "Fixed", "a weld", "second at", "first orientation"),
    kind(JOINT_KEYS, "screw", "Screw", "a bolt in a nut", "second at axis pitch", "first"),
    kind(JOINT_KEYS, "series", "Series", "massless hinges and slides in series", "second at steps", "first"),
    kind(JOINT_KEYS, "rod", "Rod", "a fixed distance", "second", "first start end length at", ROD_ENDS),
    kind(JOINT_KEYS, "point-on-line", "PointOnLine", "a pin in a slot", "second at axis", "first reading"),
    kind(JOINT_KEYS, "point-on-plane", "PointOnPlane", "a foot on a floor", "second at normal", "first"),
    kind(JOINT_KEYS, "point-on-curve", "PointOnCurve", "a bead on a wire", "second curve parameter",
         "first start at span", ON_CURVE),
    kind(JOINT_KEYS, "point-on-surface", "PointOnSurface", "a point where an equation holds", "second surface symbols",
         "first at"),
    kind(JOINT_KEYS, "rolling-wheel", "RollingWheel", "a wheel on a line, in the plane", "second radius",
         "first normal at centre", POINT_AT),
    kind(JOINT_KEYS, "rolling-disc", "RollingDisc", "a disc on a plane", "second radius axis",
         "first normal at centre", POINT_AT),
    kind(JOINT_KEYS, "rolling-ball", "RollingBall", "a ball on a plane", "second radius",
         "first normal at centre", POINT_AT),
    kind(JOINT_KEYS, "wheel-on-wheel", "WheelOnWheel", "a wheel on, or in, a wheel", "second radii",
         "first inside at", CENTRES),
    kind(JOINT_KEYS, "skate", "Skate", "a knife edge", "second at direction", "first normal"),
    kind(CONTACT_KEYS, "contact", "Contact", "a body that touches another", "second",
         "first normal radius radii axis inside at centre corners box rim restitution friction"),
    kind(RULE_KEYS, "stop", "Stop", "ends of the range of a joint's coordinate", "joint",
         "lower upper coordinate restitution"),
    kind(RULE_KEYS, "driver", "Driver", "a joint's coordinate moves as prescribed", "joint", "motion speed coordinate"),
    kind(RULE_KEYS, "coupling", "Coupling", "a linear equation between joint coordinates", "factors", "value"),
    kind(RULE_KEYS, "gear", "Gear", "two angles in proportion", "first second ratio"),
    kind(RULE_KEYS, "rack", "Rack", "a travel that follows an angle", "pinion rack radius"),
    kind(RULE_KEYS, "belt", "Belt", "a belt around two wheels", "first second radii", "crossed"),
    kind(RULE_KEYS, "condition", "Condition", "anything that must hold", "expressions"),
)  # fmt: skip

SPRING = kind(FORCE_KEYS, "spring", "Spring", "a spring and damper between two points", "second",
              "first start end at stiffness rest damping force color")  # fmt: skip
ELEMENTS = (
    SPRING,
    kind(FORCE_KEYS, "joint-spring", "JointSpring", "a spring and damper along a joint's coordinate", "joint",
         "stiffness rest damping coordinate"),
    kind(FORCE_KEYS, "force", "Force", "a force at a point of a body", "body components", "point frame"),
    kind(FORCE_KEYS, "torque", "Torque", "a torque on a body", "body components", "frame"),
    kind(FORCE_KEYS, "actuator", "Actuator", "an effort along a joint's coordinate", "joint effort", "coordinate"),
    kind(FORCE_KEYS, "drag", "Drag", "the resistance of a medium at rest", "body", "linear quadratic turning"),
    kind(FORCE_KEYS, "joint-friction", "JointFriction", "friction in a joint, as a nonideal constraint",
         "joint", "coefficient coordinate mu radius"),
    kind(FORCE_KEYS, "bushing", "Bushing", "stiffness and damping against every relative motion", "second at",
         "first stiffness damping turn_stiffness turn_damping axis across",
         JOINT_KEYS["at"],
         Key("stiffness", "components", "force per length: one, or one for each axis", 0, of="time"),
         Key("damping", "components", "force per speed, likewise", 0, of="motion"),
         Key("turn_stiffness", "components", "torque per angle; in the plane one", 0, of="time"),
         Key("turn_damping", "components", "torque per angular velocity, likewise", 0, of="motion"),
         Key("axis", "point", "its first axis, in the world at the start; x", of="number"),
         Key("across", "point", "roughly its second axis, in space", of="number")),
    kind(FORCE_KEYS, "ball-damper", "BallDamper", "a damper in a ball joint", "joint damping"),
    kind(FORCE_KEYS, "armature", "Armature", "inertia along a joint's coordinate", "joint inertia", "coordinate"),
)  # fmt: skip

LATER = ("joint", "selection", "factors", "conditions")  # what refers to joints, or to their coordinates
