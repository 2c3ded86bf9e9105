"""A model in MuJoCo and in zwang at the same state: the accelerations of all bodies."""

import mujoco
import numpy as np

import zwang as zw
from zwang.multibody.vectors import world_rates

SIZES = ((7, 6), (4, 3), (1, 1), (1, 1))  # of qpos and qvel, in the order of mjtJoint
OFF = ("LIMIT", "CONTACT", "ACTUATION")


def random_state(m, rng):
    """A state that obeys the model's couplings of joints and tendons; fast enough that dry friction does not hold."""
    d = mujoco.MjData(m)
    q = rng.uniform(-1.0, 1.0, m.nq)
    mujoco.mj_normalizeQuat(m, q)
    v = rng.uniform(0.2, 1.5, m.nv) * rng.choice([-1, 1], m.nv)
    for _ in range(3):
        d.qpos[:], d.qvel[:] = q, v
        J, gap = couplings(m, d)
        if len(J):
            scalar = dofs_to_qpos(m)
            q[scalar[:, 1]] -= (np.linalg.pinv(J) @ gap)[scalar[:, 0]]
            v -= np.linalg.pinv(J) @ (J @ v)
    d.qpos[:], d.qvel[:] = q, v
    return d


def dofs_to_qpos(m):
    """(k, 2) dof and qpos of hinges and slides."""
    simple = [j for j in range(m.njnt) if m.jnt_type[j] >= 2]
    return np.array([(m.jnt_dofadr[j], m.jnt_qposadr[j]) for j in simple])


def couplings(m, d):
    """Rows J q̇ = 0 of the equalities between joints or tendons over joints, and what they read."""
    mujoco.mj_forward(m, d)
    rows, gaps = [], []
    bits = mujoco.mjtDisableBit
    off = m.opt.disableflags & (int(bits.mjDSBL_EQUALITY) | int(bits.mjDSBL_CONSTRAINT))
    for i in () if off else range(m.neq):
        kind, data = mujoco.mjtEq(int(m.eq_type[i])), m.eq_data[i]
        assert not data[2:5].any()
        lengths, slopes = [], []
        for k in (int(m.eq_obj1id[i]), int(m.eq_obj2id[i])):
            if k < 0:
                continue
            row = np.zeros(m.nv)
            if kind == mujoco.mjtEq.mjEQ_TENDON:
                for w in range(m.tendon_adr[k], m.tendon_adr[k] + m.tendon_num[k]):
                    row[m.jnt_dofadr[m.wrap_objid[w]]] += m.wrap_prm[w]
                lengths.append(d.ten_length[k] - m.tendon_length0[k])
            elif kind == mujoco.mjtEq.mjEQ_JOINT:
                row[m.jnt_dofadr[k]] = 1
                lengths.append(d.qpos[m.jnt_qposadr[k]] - m.qpos0[m.jnt_qposadr[k]])
            else:
                raise AssertionError(kind)
            slopes.append(row)
        rows.append(slopes[0] - (data[1] * slopes[1] if len(slopes) == 2 else 0))
        gaps.append(lengths[0] - data[0] - (data[1] * lengths[1] if len(slopes) == 2 else 0))
    return np.array(rows).reshape(-1, m.nv), np.array(gaps)


def mujocos(m, d, off=OFF):
    """(bodies, 6) angular and linear accelerations of the centres of mass in world axes; equalities are exact."""
    J, _ = couplings(m, d)
    m.opt.tolerance, m.opt.iterations, before = 0.0, 300, m.opt.disableflags
    for word in (*off, "EQUALITY"):
        m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{word}"))
    mujoco.mj_forward(m, d)
    if len(J):
        M = np.zeros((m.nv, m.nv))
        for column, unit in zip(M, np.eye(m.nv), strict=True):
            mujoco.mj_mulM(m, d, column, unit)
        W = np.linalg.solve(M, J.T)
        d.qacc[:] -= W @ np.linalg.solve(J @ W, J @ d.qacc)
    mujoco.mj_rnePostConstraint(m, d)
    found = np.zeros((m.nbody, 6))
    for i in range(m.nbody):
        mujoco.mj_objectAcceleration(m, d, mujoco.mjtObj.mjOBJ_BODY, i, found[i], 0)
    gravity = 0 if m.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY) else m.opt.gravity
    found[:, 3:] += gravity
    m.opt.disableflags = before
    return found


def joint_state(m, d):
    """Values and rates by joint, as `Imported.start` takes them."""
    values, rates = {}, {}
    for j in range(m.njnt):
        nq, nv = SIZES[int(m.jnt_type[j])]
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_JOINT, j) or f"joint{j}"
        q, v = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        values[name], rates[name] = d.qpos[q : q + nq].copy(), d.qvel[v : v + nv].copy()
    return values, rates


def zwangs(imported, values, rates, parameters=None):
    """The same of an imported model, by the number of the body."""
    system = imported.mechanism.system
    start = imported.start(values, rates)
    now = zw.evaluate(system, start, parameters=parameters).acceleration
    found = {}
    for i, body in imported.skeleton.bodies.items():
        columns = [system.coordinates.index(q) for q in body.coordinates]
        u = tuple(start[q] for q in body.coordinates[3:])
        spin = 2 * np.array(world_rates(u), dtype=float) @ now[columns[3:]]
        found[i] = np.concatenate([spin, now[columns[:3]]])
    return found


def gap_between(imported, m, d, off=OFF, parameters=None):
    """The largest difference of accelerations, beside the largest acceleration where that is above 1."""
    theirs, ours = mujocos(m, d, off), zwangs(imported, *joint_state(m, d), parameters)
    size = max(1.0, np.abs(theirs).max())
    return max(np.abs(a - theirs[i]).max() for i, a in ours.items()) / size
