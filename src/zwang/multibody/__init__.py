"""Bodies, joints and force elements: a mechanism becomes a `System`."""

from zwang.multibody import inertia
from zwang.multibody.body import Moving, Particle, ground
from zwang.multibody.forces.gravity import Gravity
from zwang.multibody.joints.revolute import Revolute
from zwang.multibody.mechanism import Mechanism
from zwang.multibody.planar_body import PlanarBody
from zwang.multibody.spatial_body import Body

__all__ = ["Body", "Gravity", "Mechanism", "Moving", "Particle", "PlanarBody", "Revolute", "ground", "inertia"]
