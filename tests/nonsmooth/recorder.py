"""Record the nonsmooth problems that tests meet, with the motions that the solvers of their rooms accept.

    python tests/nonsmooth/recorder.py OUT.pickle tests/motion/contact …    # pytest's arguments

Each record is (family, W, c, laws, u): how rows respond, their free speeds, a row of numbers for each block (normal
row: 0 none, 1 unilateral, 2 bilateral; tangential rows; μ; static μ; bound; low; the known direction of slip) and the
accepted speeds. Equalities are blocks of their own where masses are regular, and eliminated elsewhere; steps are
those of the scheme in Python. `tests/nonsmooth/corpus.py` packs and reads the records.
"""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from zwang.motion import resting
from zwang.motion.contact import decide, impact, rough_impact, rubbing, together
from zwang.motion.contact.problem import OPEN, SIGN
from zwang.motion.contact.rough import admitted, solved
from zwang.motion.contact.steps import scheme
from zwang.motion.contact.units import balanced, mass_units
from zwang.motion.directions import held

REGULAR = 1e-8  # of the largest eigenvalue of scaled masses: above, masses are regular
MOST_ROWS = 60
FLUSHED = 2_000

RECORDS = []
SEEN = set()
OUT = [Path("corpus.pickle")]


def keep(family, W, c, laws, u):
    """One record, unless it is known or says nothing."""
    W, c, u = (np.array(x, dtype=float) for x in (W, c, u))
    sided = any(law[0] == 1 or law[1] for law in laws)
    if not sided or len(c) > MOST_ROWS or not np.abs(c).max(initial=0.0) > 0:
        return
    if not all(np.isfinite(x).all() for x in (W, c, u)):
        return
    key = hash((family, W.tobytes(), c.tobytes(), str(laws)))
    if key not in SEEN:
        SEEN.add(key)
        RECORDS.append((family, (W + W.T) / 2, c, np.array(laws, dtype=float).reshape(-1, 8), u))
        if len(RECORDS) % FLUSHED == 0:
            save()


def save():
    """Write everything down."""
    OUT[0].write_bytes(pickle.dumps(RECORDS))


def quietly(function):
    """What recording itself raises must not change what tests do."""

    def called(*args):
        try:
            function(*args)
        except (ArithmeticError, ValueError, TypeError, AttributeError, IndexError, KeyError, StopIteration) as e:
            print("not recorded:", repr(e), file=sys.stderr)

    return called


def responses(M, E, e, Q, rows):
    """W, and the answer (n,) without impulses of rows."""
    n = len(M)
    load = np.zeros((n + len(E), 1 + len(rows)))
    load[:n, 0], load[n:, 0], load[:n, 1:] = Q, e, rows.T
    x = balanced(M, E, load, mass_units(M, E))[:n]
    return rows @ x[:, 1:], x[:, 0]


@quietly
def rough_problem(family, problem, x):
    """A problem of `motion.contact.problem`."""
    if problem.law is not None:
        return
    rows, right, laws = [], [], []
    units = mass_units(problem.M, problem.equal)
    regular = np.linalg.eigvalsh(problem.M / units / units[:, None])[0] > REGULAR
    E, e = problem.equal, problem.right
    if regular and len(E):
        rows, right, laws = [*E], [*e], [(2, 0, 0, 0, 0, 0, 0, 0)] * len(E)
        E, e = E[:0], e[:0]
    for s in problem.surfaces:
        if s.may == (OPEN,):
            continue
        normal = 1 if s.given > 0 or OPEN in s.may else 2
        rows.append(s.n)
        right.append(s.least)
        way = (0.0, 0.0)
        if s.t is not None:
            rows.append(s.t)
            right.append(s.stuck)
            if s.slips:
                way = (next(SIGN[m] for m in s.may if m in SIGN), 0.0)
        if s.across is not None:
            rows.append(s.across)
            right.append(s.stuck_across)
        laws.append((normal, (s.t is not None) + (s.across is not None), s.mu_k, s.mu_s, 0, s.given, *way))
    if rows:
        R = np.array(rows)
        W, free = responses(problem.M, E, e, problem.Q, R)
        keep(family, W, R @ free - right, laws, R @ x - right)


@quietly
def gauss(family, M, Q, A, b, C, sided, x):
    """A problem of Gauss's principle."""
    load = Q if C is None else Q + C
    units = mass_units(M, A[~sided])
    regular = np.linalg.eigvalsh(M / units / units[:, None])[0] > REGULAR
    which = np.ones(len(A), dtype=bool) if regular else sided
    W, free = responses(M, A[~which], b[~which], load, A[which])
    laws = [(1 if one else 2, 0, 0, 0, 0, 0, 0, 0) for one in sided[which]]
    keep(family, W, A[which] @ free - b[which], laws, A[which] @ x - b[which])


def patch(place, name, make):
    """Put a function around another."""
    setattr(place, name, make(getattr(place, name)))


def solve_named(before):
    """Gauss's principle with inequalities."""

    def around(M, Q, A, b, **given):
        found = before(M, Q, A, b, **given)
        if given.get("one_sided") is not None and given["one_sided"].any():
            gauss("gauss", M, Q, A, b, given.get("C"), np.asarray(given["one_sided"]), found.acceleration)
        return found

    return around


def different(family):
    """What is decided, by trying all modes."""

    def make(before):
        def around(problem, tried):
            kept = before(problem, tried)
            if len(kept) == 1 and not TOGETHER:
                rough_problem(family, problem, kept[0].x)
            return kept

        return around

    return make


TOGETHER = []


def require_unique(before):
    """The same a moment later."""

    def around(self, problem, found):
        before(self, problem, found)
        if TOGETHER or self.space:  # there slips that begin have directions already
            return
        later = admitted(problem, solved(problem, found.mode))
        if later is not None:
            rough_problem("later", problem, later.x)

    return around


def decide_together(before):
    """What is decided together is recorded where it is solved."""

    def around(*args):
        TOGETHER.append(1)
        try:
            return before(*args)
        finally:
            TOGETHER.pop()

    return around


def reached(before):
    """Several contacts in space."""

    def around(problem):
        found = before(problem)
        if len(found) == 1:
            rough_problem("together", problem, found[0].found.x)
        return found

    return around


def impulses(before):
    """A step of Moreau and Jean's method."""

    def around(W, free, rubs, begin, *more, **given):
        found, size = before(W, free, rubs, begin, *more, **given)
        step(W, free, rubs, found, size)
        return found, size

    return around


@quietly
def step(W, free, rubs, found, size):
    """A step, unless friction of sticking is another one: then what holds depends on what was before."""
    W = W if isinstance(W, np.ndarray) else W.toarray() if W.shape[0] <= MOST_ROWS else None
    if W is None or (rubs.friction[:, 0] > rubs.friction[:, 1]).any() or not found.left <= 1e-11 * size:
        return
    laws = [(1, k - 1, mu, mu, 0, 0, 0, 0) for k, mu in zip(rubs.sizes.tolist(), rubs.friction[:, 1], strict=True)]
    laws = [law if law[1] else (1, 0, 0, 0, 0, 0, 0, 0) for law in laws]
    keep("step", W, free, laws, found.u)


def shared(before):
    """Switches at rest."""

    def around(course, on, along):
        found = before(course, on, along)
        if isinstance(found, dict):
            switches(course, on, along, found)
        return found

    return around


@quietly
def switches(course, on, along, sides):
    """Switches at rest, whose rates are linear in the sides: made symmetric by how strong each is."""
    which = list(on)
    place = [course.along.which.index(i) for i in which]

    def rates(given):
        modes = held(course, dict(zip(which, given, strict=True)), along)
        return course.sense * course.evaluated(course.along.shares, modes, course.state)["rate"][place]

    if len(which) > 8:
        return
    ones = [1] * len(which)
    base = rates(ones)
    G = np.stack([(base - rates([*ones[:k], -1, *ones[k + 1 :]])) / 2 for k in range(len(which))], axis=1)
    c = base - G.sum(axis=1)
    d = np.ones(len(which))
    for i in range(1, len(which)):
        j = int(np.argmax(np.abs(G[i, :i])))
        if G[i, j] != 0 and G[j, i] != 0:
            d[i] = d[j] * G[j, i] / G[i, j]
    W = -G / d
    if (d <= 0).any() or np.abs(W - W.T).max() > 1e-9 * np.abs(W).max() or not np.diagonal(W).min() > 0:
        return
    final = rates([sides[i] for i in which]) if all(sides.values()) else None
    if final is None:
        modes = held(course, sides, along)
        final = course.sense * course.evaluated(course.along.shares, modes, course.state)["rate"][place]
    keep("box", W, c, [(0, 1, 0, 0, bound, 0, 0, 0) for bound in d], final)


def patch_all():
    """Put recorders around all solvers."""
    patch(decide, "solve_named", solve_named)
    patch(impact, "solve_named", solve_named)
    patch(rubbing, "different", different("decide"))
    patch(rough_impact, "different", different("phase"))
    patch(rubbing.Rubbing, "require_unique", require_unique)
    patch(rubbing.Rubbing, "decide_together", decide_together)
    patch(together, "reached", reached)
    patch(scheme, "impulses", impulses)
    patch(resting, "shared", shared)
    scheme.Scheme.given = lambda *_: None


if __name__ == "__main__":
    OUT[0] = Path(sys.argv[1])
    patch_all()
    pytest.main(sys.argv[2:])
    save()
    print(len(RECORDS), "problems")
