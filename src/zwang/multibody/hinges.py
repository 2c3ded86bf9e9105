"""Dampers, friction and motors in hinges of large mechanisms, by families: one template for all of a kind.

What acts along a hinge in space is long to write: its rate is in the quaternions of two bodies. So it is written once
for each kind, with symbols for axis and coefficient.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from zwang.model.families.column import FUNCTION, Column
from zwang.model.families.repeated import ON, Share
from zwang.multibody.body import MassBody
from zwang.multibody.element import ForceElement
from zwang.multibody.families import Members, is_twinned, symbols_of, twin_joint
from zwang.multibody.forces.actuator import Actuator
from zwang.multibody.forces.along_joint import along
from zwang.multibody.forces.joint_friction import JointFriction
from zwang.multibody.forces.joint_spring import JointSpring
from zwang.multibody.joint import Freedom, Joint, spin_about
from zwang.multibody.joints.revolute import Revolute
from zwang.multibody.vectors import is_number, is_zero, scalar


def hinge_shares(elements: Sequence[ForceElement]) -> tuple[list[Share], list[ForceElement]]:
    """What acts along hinges, as families; and the elements that are to be written out."""
    kinds: dict[Any, Members] = {}
    places: dict[Any, str] = {}
    rest: list[ForceElement] = []
    for element in elements:
        found = effort_of(element)
        if found is None:
            rest.append(element)
            continue
        place, resists, coefficient = found
        joint: Any = element.joint  # type: ignore[attr-defined]
        values = [*joint.axes[0], coefficient]
        key = (place, resists, *map(type, joint.bodies), *(isinstance(x, sp.Symbol) for x in values))
        members = kinds.setdefault(key, Members(None, symbols_of(joint)))
        places[key] = place
        members.names.append(tuple(n for b in joint.bodies if isinstance(b, MassBody) for n in b.coordinate_names))
        members.values.append(values)
        members.parts.append(joint)
    return [share for key, members in kinds.items() for share in shares_of(places[key], key[1], members)], rest


def effort_of(element: ForceElement) -> tuple[str, bool, Any] | None:
    """Where the effort of an element is put, whether it resists the rate or is constant, and its coefficient.

    None for an element that is written out.
    """
    joint = getattr(element, "joint", None)
    if type(joint) is not Revolute or joint.dimension != 3 or not all(map(is_twinned, joint.bodies)):
        return None
    if type(element) is JointSpring and is_zero(scalar(element.who, element.stiffness)):
        found = "forces", True, scalar(element.who, element.damping)
    elif type(element) is JointFriction and element.mu is None:  # Coulomb's is in multipliers of its own joint
        found = "nonideal", True, scalar(element.who, element.coefficient)
    elif type(element) is Actuator and not element.inputs:
        found = "forces", False, scalar(element.who, element.effort)
    else:
        return None
    numbers = (*joint.axes[0], found[2])
    return found if all(is_number(x) or isinstance(x, sp.Symbol) for x in numbers) else None


def shares_of(place: str, resists: bool, members: Members) -> list[Share]:
    """The forces of one kind of element on each of the coordinates that the rate of its hinge depends on."""
    shares = []
    for j, template in forces_along(resists, twin_joint(members.parts[0], {})).items():
        names = np.array([own[j] for own in members.names], dtype=object)
        on = Column(np.full(len(names), FUNCTION, dtype=np.int8), names)
        family = members.family(template)
        acting = replace(family, columns={ON: on, **family.columns})
        shares.append(Share(place, acting, np.zeros(0, dtype=np.int64)))
    return shares


def forces_along(resists: bool, twin: Joint) -> dict[int, sp.Expr]:
    """The forces on the coordinates of a hinge's twin, by their numbers; written once for a kind of bodies."""
    bodies = tuple(body for body in twin.bodies if isinstance(body, MassBody))
    kind = (resists, *map(type, twin.bodies))
    if kind not in _WRITTEN:
        *axis, coefficient = (sp.Symbol(f"number {j + 1}", real=True) for j in range(4))
        rate = spin_about(twin, tuple(axis))
        found = along(Freedom("angle", rate), bodies, -coefficient * rate if resists else coefficient)
        _WRITTEN[kind] = {j: found[q] for j, q in enumerate(symbols_of(twin)) if q in found}
    return _WRITTEN[kind]


_WRITTEN: dict[Any, dict[int, sp.Expr]] = {}
