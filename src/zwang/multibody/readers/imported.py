"""A model that was read from another program's file: the mechanism, and what was read and what was not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.display import told
from zwang.errors import AssemblyError
from zwang.lowering.lowered import Matrices
from zwang.lowering.matrices import matrix_kernel
from zwang.model import System
from zwang.model.has_system import HasSystem
from zwang.model.state import State
from zwang.model.values import parameter_values
from zwang.motion.assemble import assemble
from zwang.motion.contradiction import involved, refusal
from zwang.multibody.mechanism import Mechanism
from zwang.multibody.readers.frame import spin_rates
from zwang.multibody.readers.limits import Limit
from zwang.multibody.readers.skeleton import Held, Skeleton
from zwang.multibody.readers.tree import Values, advance, place, rate_slices, read_values, reference

if TYPE_CHECKING:
    import xarray as xr

CLOSED = 1e-12  # a loop is closed where its conditions read less than this, in units of length and angle
OPEN = 1e-8  # and has not been closed where they read more than this
STUCK = 1e-12  # steps shorter than this lead nowhere
STEPS, ATTEMPTS = 30, 8  # of closing loops
DEPENDENT = 1e-9  # of the largest: what loops change no faster they leave free
LEAP = 0.3  # how far a step may go, in units of length and angle


@dataclass(frozen=True, eq=False)
class Imported(HasSystem):
    """A mechanism read from a file. `read` and `ignored` say, element by element, what became of the file.

    `warnings` say what was mended, and what is left out although it would change the motion; what is `ignored` is
    looks, or does not matter. `limits` are the ranges of joints, which `limits=True` makes stops, and
    `inputs` the names of what commands actuators. `start` gives the state at values of the file's own joints. Printing
    it shows all lists. Whatever takes a `System` takes it, and begins where the file has its joints.
    """

    mechanism: Mechanism
    read: tuple[str, ...]
    ignored: tuple[str, ...]
    skeleton: Skeleton
    held: tuple[Held, ...]
    warnings: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    inputs: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """What was read, counted; `print` shows all lists."""
        lists = {"read": self.read, "ignored": self.ignored, "warnings": self.warnings}
        return told(self, self.mechanism.name, ", ".join(f"{len(lines)} {what}" for what, lines in lists.items()))

    def __str__(self) -> str:
        """What was read, what to mind, and what was not read."""
        parts = []
        told = (
            ("read", self.read),
            *((("warnings", self.warnings),) if self.warnings else ()),
            ("ignored", self.ignored),
        )
        for title, lines in told:
            parts += [f"{title}:", *(f"  - {line}" for line in lines or ("nothing",))]
        return "\n".join(parts)

    def start(
        self, values: Mapping[str, Any] | None = None, rates: Mapping[str, Any] | None = None
    ) -> Mapping[Any, float]:
        """The state with joints at given values and rates, by the file's names; all others follow.

        A hinge or slide takes one number. A ball takes a quaternion, scalar first, and its rates are the angular
        velocity in the link's axes; a free link takes its origin and quaternion, and its rates are the origin's
        velocity and the angular velocity in the link's axes. Joints that are not given stay as the file has them,
        at rest, unless a loop or a coupling moves them: then with the least kinetic energy.
        """
        links = self.skeleton.links
        given = read_values(links, values or {}, "values")
        slices = rate_slices(links)
        total = max((s.stop for s in slices.values()), default=0)
        free = np.ones(total, dtype=bool)
        for name in given:
            free[slices[name]] = False
        found = self._closed(reference(links) | given, free)
        q, S = self.maximal(found)
        theta, kept = np.zeros(total), np.zeros(total, dtype=bool)
        given = read_values(links, rates or {}, "rates")
        for name, value in given.items():
            kept[slices[name]], theta[slices[name]] = True, value
        if given:
            theta = self._followed(q, S, theta, {name: slices[name] for name in given}, kept)
        state = np.concatenate([q, S @ theta])
        system = self.mechanism.system
        return assemble(system, State(system, state))

    def system_with(self, parameters: Mapping[Any, Any] | None) -> System:
        """The system of the mechanism."""
        return self.mechanism.system

    def guess_with(self, parameters: Mapping[Any, Any] | None) -> Mapping[Any, float]:
        """Joints as the file has them, at rest."""
        return self.start()

    def start_with(self, parameters: Mapping[Any, Any] | None, t: float) -> Mapping[Any, float]:
        """The same with every constraint met for these values of parameters at this time."""
        return assemble(self.mechanism.system, self.start(), parameters=parameters, t=t) if parameters else self.start()

    def dressed(self, motion: "xr.Dataset", parameters: Mapping[Any, Any] | None) -> "xr.Dataset":
        """A motion with the mechanism's drawing in it."""
        return self.mechanism.dressed(motion, parameters)

    def maximal(self, values: Values) -> tuple[Array, Array]:
        """The mechanism's coordinates (n,) where slots have values, and (n, k) how their rates follow from the slots'.

        In the order of the system's coordinates, and of the file's joints.
        """
        placed, slices = place(self.skeleton.links, values), rate_slices(self.skeleton.links)
        where: dict[sp.Expr, tuple[float, Array]] = {}
        for i, body in self.skeleton.bodies.items():
            here = placed.frames[i]
            arm, u = here.turn @ self.skeleton.links[i].centre, here.quaternion
            q = np.concatenate([here.origin + arm, u])
            moving = placed.linear[i] + np.cross(placed.angular[i], arm, axisa=0, axisc=0)
            rows = np.vstack([moving, spin_rates(u, placed.angular[i])])
            where |= dict(zip(body.coordinates, zip(q, rows, strict=True), strict=True))
        for h in self.held:
            for q, s in zip(h.joint.coordinates, h.slots, strict=bool(h.joint.coordinates)):
                unit = np.zeros(placed.linear.shape[2])
                unit[slices[s.name]] = 1.0
                where[q] = (float(values[s.name][0]), unit)
        found = [where[q] for q in self.mechanism.system.coordinates]
        return np.array([x for x, _ in found]), np.array([row for _, row in found])

    def _closed(self, values: Values, free: Any) -> Values:
        """Values that close every loop, found by changing the free ones, from other starts where these lead nowhere.

        Bodies that are to be parallel but stand a quarter of a turn apart, for instance, do not know which way to go.
        """
        links, rng, best = self.skeleton.links, np.random.default_rng(0), (np.inf, 0)
        for attempt in range(ATTEMPTS):
            aside = np.where(free, attempt / ATTEMPTS * rng.normal(size=len(free)), 0.0)
            found, reading = self._settled(advance(links, values, aside), free)
            worst = int(np.argmax(np.abs(reading))) if len(reading) else 0
            gap = float(np.abs(reading).max(initial=0.0))
            if gap < OPEN and not self._flipped(self.maximal(found)[0]):
                return found
            best = min(best, (gap, worst))
        name = self.mechanism.system.constraint_names[best[1]]
        raise AssemblyError(
            f"the joints cannot stand as given: {name!r} stays open by {best[0]:.3g}; leave out some of the values, "
            f"so that these joints can follow, or give better ones"
        )

    def _followed(self, q: Array, S: Array, theta: Array, given: Mapping[str, slice], kept: Any) -> Array:
        """Rates of all joints: those that are kept, and the others with the least kinetic energy that loops allow."""
        now, J = self._matrices(q, S)
        M, free = S.T @ now.M @ S, ~kept
        _, sizes, ways = np.linalg.svd(J[:, free])
        along = ways[np.count_nonzero(sizes > DEPENDENT * sizes.max(initial=0.0)) :].T  # what loops leave free
        theta[free] = np.linalg.lstsq(J[:, free], -J @ theta, rcond=DEPENDENT)[0]
        theta[free] += along @ np.linalg.lstsq(along.T @ M[free][:, free] @ along, -along.T @ (M @ theta)[free])[0]
        left = J @ theta
        if np.abs(left).max(initial=0.0) <= OPEN * max(1.0, np.abs(theta).max(initial=0.0)):
            return theta
        rows, places = involved(left, J, kept, M)
        names = np.array(self.mechanism.system.constraint_names)[self._held]
        said = [name for name, own in given.items() if set(range(own.start, own.stop)) & set(places)]
        told = [
            f"{name}' ({theta[given[name]][0]:.6g})" if np.size(theta[given[name]]) == 1 else f"{name}'"
            for name in said
        ]
        raise AssemblyError(refusal(told, names[rows].tolist()))

    def _settled(self, values: Values, free: Any) -> tuple[Values, Array]:
        """The end of a Gauss–Newton search with shortest steps, and the residuals of the conditions there."""
        for _ in range(STEPS):
            now, J = self._matrices(*self.maximal(values))
            reading = np.nan_to_num(now.residual)[self._held]
            if np.abs(reading).max(initial=0.0) < CLOSED:
                break
            change = np.zeros(len(free))
            change[free] = np.linalg.lstsq(J[:, free], -reading, rcond=DEPENDENT)[0]
            size = np.abs(change).max(initial=0.0)
            if size < STUCK:
                break
            values = advance(self.skeleton.links, values, change * min(1.0, LEAP / size))
        return values, reading

    def _flipped(self, q: Array) -> bool:
        """Whether a weld holds its bodies turned from where it should: half a turn off its conditions are met, too."""
        where = dict(zip(self.mechanism.system.coordinates, q, strict=True))
        facing = [j.facing for j in self.mechanism.joints]
        return any(float(f.xreplace(where)) < 0 for f in facing if f is not None)

    @property
    def _held(self) -> Any:
        """Which conditions hold always: limits are looked at in the end."""
        return np.array([not c.one_sided for c in self.mechanism.system.constraints], dtype=bool)

    def _matrices(self, q: Array, S: Array) -> tuple[Matrices, Array]:
        """The matrices at a position, and how the conditions' readings follow from the slots' rates."""
        system = self.mechanism.system
        p, inputs = parameter_values(system, None)
        now = matrix_kernel(system, inputs)(0.0, q, np.zeros_like(q), p)
        J = now.A @ S
        J[np.abs(J) < 1e-11 * np.abs(now.A).max(initial=1.0)] = 0.0  # rounding of joints that hold by themselves
        return now, J[self._held]
