"""Bodies, joints and force elements: a mechanism becomes a `System`."""

from zwang.model.solids import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from zwang.multibody import inertia
from zwang.multibody.body import Moving, Particle, ground
from zwang.multibody.contacts.contact import Contact
from zwang.multibody.contacts.stop import Stop
from zwang.multibody.forces.actuator import Actuator
from zwang.multibody.forces.armature import Armature
from zwang.multibody.forces.ball_damper import BallDamper
from zwang.multibody.forces.bushing import Bushing
from zwang.multibody.forces.drag import Drag
from zwang.multibody.forces.force import Force
from zwang.multibody.forces.gravity import Gravity
from zwang.multibody.forces.joint_friction import JointFriction
from zwang.multibody.forces.joint_spring import JointSpring
from zwang.multibody.forces.spring import Spring, length, rate
from zwang.multibody.forces.torque import Torque
from zwang.multibody.joints.condition import Condition
from zwang.multibody.joints.cylindrical import Cylindrical
from zwang.multibody.joints.driver import Driver, start
from zwang.multibody.joints.fixed import Fixed
from zwang.multibody.joints.planar import Planar
from zwang.multibody.joints.point_on_curve import PointOnCurve
from zwang.multibody.joints.point_on_line import PointOnLine
from zwang.multibody.joints.point_on_plane import PointOnPlane
from zwang.multibody.joints.point_on_surface import PointOnSurface
from zwang.multibody.joints.prismatic import Prismatic
from zwang.multibody.joints.revolute import Revolute
from zwang.multibody.joints.rod import Rod
from zwang.multibody.joints.rolling.rolling_ball import RollingBall
from zwang.multibody.joints.rolling.rolling_disc import RollingDisc
from zwang.multibody.joints.rolling.rolling_wheel import RollingWheel
from zwang.multibody.joints.rolling.skate import Skate
from zwang.multibody.joints.rolling.wheel_on_wheel import WheelOnWheel
from zwang.multibody.joints.screw import Screw
from zwang.multibody.joints.series import Series, Step
from zwang.multibody.joints.spherical import Spherical
from zwang.multibody.joints.transmission.belt import Belt
from zwang.multibody.joints.transmission.coupling import Coupling
from zwang.multibody.joints.transmission.gear import Gear
from zwang.multibody.joints.transmission.rack import Rack
from zwang.multibody.joints.universal import Universal
from zwang.multibody.mechanism import Mechanism
from zwang.multibody.planar_body import PlanarBody
from zwang.multibody.readers.imported import Imported
from zwang.multibody.readers.mjcf import read_mjcf
from zwang.multibody.readers.urdf import read_urdf
from zwang.multibody.spatial_body import Body

__all__ = [
    "Actuator",
    "Armature",
    "BallDamper",
    "Belt",
    "Body",
    "Box",
    "Bushing",
    "Capsule",
    "Condition",
    "Contact",
    "Coupling",
    "Cylinder",
    "Cylindrical",
    "Drag",
    "Driver",
    "Ellipsoid",
    "Fixed",
    "Force",
    "Gear",
    "Gravity",
    "Imported",
    "JointFriction",
    "JointSpring",
    "Mechanism",
    "Mesh",
    "Moving",
    "Particle",
    "Planar",
    "PlanarBody",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "PointOnSurface",
    "Prismatic",
    "Rack",
    "Revolute",
    "Rod",
    "RollingBall",
    "RollingDisc",
    "RollingWheel",
    "Screw",
    "Series",
    "Skate",
    "Sphere",
    "Spherical",
    "Spring",
    "Step",
    "Stop",
    "Torque",
    "Universal",
    "WheelOnWheel",
    "ground",
    "inertia",
    "length",
    "rate",
    "read_mjcf",
    "read_urdf",
    "start",
]
