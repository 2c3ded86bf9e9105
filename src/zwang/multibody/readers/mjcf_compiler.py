"""MuJoCo's compiler and trimesh at work on strangers' files, as the script of a process of its own.

The compiler is in C and knows no limits: a file of 200 bytes may take ten gigabytes or never come to an end, and Python
cannot interrupt it. A mesh of 300 bytes in glTF may unpack to as much. So `mjcf_process` starts this script, which
imports nothing of zwang, and gives it one request a line. Every request has a limit of processor time and of memory:
the system ends this process where one is passed. The answer is a line of JSON, and the bytes of the arrays that it
names.
"""

import faulthandler
import json
import os
import signal
import sys
from typing import Any, BinaryIO

IDLE = 60  # seconds without a request after which the process ends
TIMES_OF_CLOCK = 10  # how much longer than its processor time a request may take on the clock: a machine may be busy
LARGEST_SHARE = (
    0.25  # of the memory that a request may use: what its answer may be, which whoever asks has to hold, too
)

# What of a compiled model is read: its arrays and its numbers, by their names there. Older versions lack some.
NAMED = ("body", "jnt", "geom", "site", "cam", "light", "flex", "skin", "pair", "exclude", "eq", "tendon", "actuator",
         "sensor", "key")  # fmt: skip
READ = """
names nbody njnt nv nu ngeom neq ntendon nplugin qpos0 qpos_spring
body_parentid body_jntadr body_jntnum body_pos body_quat body_ipos body_iquat body_mass body_inertia body_gravcomp
body_mocapid jnt_type jnt_qposadr jnt_dofadr jnt_pos jnt_axis jnt_stiffness jnt_stiffnesspoly jnt_limited jnt_range
dof_armature dof_damping dof_dampingpoly dof_frictionloss
geom_type geom_bodyid geom_dataid geom_matid geom_group geom_contype geom_conaffinity geom_pos geom_quat geom_size
geom_rgba geom_fluid mat_rgba mesh_vert mesh_vertadr mesh_vertnum mesh_face mesh_faceadr mesh_facenum
site_bodyid site_pos site_quat eq_type eq_objtype eq_obj1id eq_obj2id eq_active0 eq_data
tendon_adr tendon_num tendon_limited tendon_range tendon_stiffness tendon_damping tendon_frictionloss tendon_armature
tendon_stiffnesspoly tendon_dampingpoly tendon_length0 tendon_lengthspring wrap_type wrap_objid wrap_prm
actuator_trntype actuator_trnid actuator_gear actuator_dyntype actuator_dynprm actuator_gaintype actuator_gainprm
actuator_biastype actuator_biasprm actuator_ctrlnum actuator_ctrllimited actuator_ctrlrange actuator_forcelimited
actuator_forcerange actuator_armature actuator_damping
"""
FIELDS = (*READ.split(), *(f"name_{kind}adr" for kind in NAMED))
OPTIONS = ("gravity", "density", "viscosity", "wind", "disableflags")
LISTS = ("mjtEq", "mjtObj", "mjtGeom", "mjtTrn", "mjtGain", "mjtBias", "mjtDyn", "mjtWrap", "mjtDisableBit")
SIZES = (0.1, 0.2)  # of what stands in for a mesh: what depends on the size is not known without it


class Refused(Exception):
    """Raised where a model cannot be compiled, with the reason."""


def main() -> None:
    """Answer requests until there are none any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks decides
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the compiler may print is no answer
    while True:
        faulthandler.dump_traceback_later(IDLE, exit=True)
        line = sys.stdin.buffer.readline()
        if not line:
            return
        request = json.loads(line)
        faulthandler.dump_traceback_later(TIMES_OF_CLOCK * request["seconds"] + IDLE / 2, exit=True)
        answers.write(b"begun\n")
        answers.flush()
        sys.path[:] = request["path"]
        more = answer(request, answers)
        if not more:
            return


def answer(request: dict[str, Any], answers: BinaryIO) -> bool:
    """Answer one request; whether the process is good for another one."""
    more, arrays = True, list[Any]()
    try:
        if "mesh" in request:
            import trimesh as library  # not part of the limit of time
        else:
            import mujoco as library
        limit(request["seconds"], request["megabytes"])
        found, arrays = (mesh_read if "mesh" in request else compiled)(library, request)
    except ImportError as error:
        found, more = {"missing": one_line(error)}, False
    except Refused as error:
        found = {"refused": str(error)}
    except ValueError as error:
        found = (
            {"memory": True}
            if "allocate memory" in str(error)
            else {"refused": f"MuJoCo's compiler refuses it: {one_line(error)}"}
        )
    except MemoryError:
        found, more = {"memory": True}, False
    except Exception as error:  # what it raises where memory is short depends on where it noticed
        found, more = {"failed": one_line(error)}, False
    answers.write(json.dumps(found).encode() + b"\n")
    for array in arrays:
        answers.write(array.tobytes())
    answers.flush()
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, 0)
    return more


def one_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split())


def limit(seconds: float, megabytes: int) -> None:
    """Let the system end this process where it takes more; Windows has the clock alone."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        import resource

        most = (megabytes << 20) + held()
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    except (ImportError, ValueError, OSError):
        pass


def held() -> int:
    """The bytes that this process has already, most of them libraries, where the system says it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


class Named:
    """What trimesh may read besides a mesh: files that were looked at before, by their names in the mesh."""

    def __init__(self, files: dict[str, str]) -> None:
        """Whatever else a mesh names is missing."""
        self.files = files

    def __getitem__(self, name: str) -> bytes:
        """The content of a file."""
        if name not in self.files:
            raise FileNotFoundError(f"{name!r} is missing")
        with open(self.files[name], "rb") as file:
            return file.read()

    get = __getitem__


def mesh_read(trimesh: Any, request: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The vertices and faces of a mesh's file."""
    try:
        with open(request["mesh"], "rb") as file:
            options = {"file_type": request["kind"], "resolver": Named(request["named"])}
            mesh = trimesh.load(file, force="mesh", process=False, **options)
        arrays = [mesh.vertices.astype("<f8"), mesh.faces.astype("<i8")]
    except MemoryError:
        raise
    except Exception as error:  # readers of many formats raise what they like on files that are not theirs
        raise Refused((str(error).splitlines() or [type(error).__name__])[0][:80]) from None
    if sum(array.nbytes for array in arrays) > LARGEST_SHARE * (request["megabytes"] << 20):
        raise MemoryError
    names = ("vertices", "faces")
    shapes = [(name, array.dtype.str, array.shape) for name, array in zip(names, arrays, strict=True)]
    return {"numbers": {}, "arrays": shapes}, arrays


def compiled(mj: Any, request: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """A compiled model: what it has, what MuJoCo warns of, what was mended, and mistakes; and its arrays."""
    warned: list[str] = []
    mj.set_mju_user_warning(lambda words: warned.append(" ".join(str(words).split())))  # not into a log file
    try:
        model, mended, mistakes = compiled_or_mended(mj, request)
    except mj.FatalError as error:
        if "allocate" in str(error):
            raise MemoryError from None
        raise Refused(f"MuJoCo's compiler refuses it: {one_line(error)}") from None
    found: dict[str, Any] = {
        "warned": warned, "mended": mended, "mistakes": mistakes, "version": mj.__version__,
        "lists": {name: {k: int(v) for k, v in getattr(mj, name).__members__.items()} for name in LISTS},
    }  # fmt: skip
    numbers, shapes, arrays = dict[str, float](), list[Any](), list[Any]()
    for owner, names in ((model, FIELDS), (model.opt, OPTIONS)):
        for name in names:
            value = getattr(owner, name, None)
            if isinstance(value, bytes):
                value = memoryview(value)
                shapes.append((name, "|u1", (len(value),)))
                arrays.append(value)
            elif isinstance(value, (int, float)):
                numbers[name] = value
            elif value is not None:
                shapes.append((name, value.dtype.str, value.shape))
                arrays.append(value)
    if sum(array.nbytes for array in arrays) > LARGEST_SHARE * (request["megabytes"] << 20):
        raise MemoryError
    return {**found, "numbers": numbers, "arrays": shapes}, arrays


def compiled_or_mended(mj: Any, request: dict[str, Any]) -> tuple[Any, list[str], list[str]]:
    """The model as it is; if MuJoCo refuses that, and files of looks are missing, without them, as warnings say.

    The mistakes are bodies that owe their inertia to such files.
    """
    file, missing = request["file"], set(request["missing"])
    if file is None:
        return mj.MjModel.from_xml_string(request["text"]), [], []
    try:
        return mj.MjModel.from_xml_path(file), [], []  # not from its text: it may include files beside it
    except (ValueError, mj.FatalError) as error:
        try:
            mended = compiled_without(mj, file, missing) if missing else None
        except (AttributeError, TypeError):
            raise Refused(
                f"files are missing, which MuJoCo {mj.__version__} cannot do without: newer ones can"
            ) from None
        except (ValueError, mj.FatalError):  # more is wrong
            mended = None
        if mended is None:
            raise error from None
        return mended


def compiled_without(mj: Any, source: str, missing: set[str]) -> tuple[Any, list[str], list[str]] | None:
    """The model without looks whose files are missing, warnings, and mistakes; None if it lacks no such files.

    Whether a body's inertia comes from a mesh depends on groups, densities, defaults and the compiler's settings. It is
    found by trying: the model is compiled with another stand-in, and inertias that differ come from it.
    """

    def compiled(large: set[str]) -> tuple[Any, list[str]]:
        spec = mj.MjSpec.from_file(source)
        warnings = stand_in(mj, spec, missing, large)
        return (spec.compile() if warnings else None), warnings

    model, warnings = compiled(set())
    if model is None:
        return None
    lost = sorted({mesh.file for mesh in mj.MjSpec.from_file(source).meshes} & missing)
    owed: dict[int, list[str]] = {}
    for file in lost if bodies_between(model, compiled(set(lost))[0]) else ():
        for i in bodies_between(model, compiled({file})[0]):
            owed.setdefault(i, []).append(file)
    mistakes = [
        f"body {model.body(i).name or f'body{i}'!r}: its mass and moments come from a mesh whose file is missing, "
        f"{' and '.join(map(repr, files))}: put it there, or give the body an <inertial>"
        for i, files in sorted(owed.items())
    ]
    return model, warnings, mistakes


def stand_in(mj: Any, spec: Any, missing: set[str], large: set[str]) -> list[str]:
    """Put something else where files are missing, and say so: a tetrahedron that is not shown, a plain, a colour."""
    warnings = []

    def lost(what: str, name: str, *files: str) -> bool:
        gone = [file for file in files if file in missing]
        if gone:
            warnings.append(f"{what} {name or gone[0]!r}: the file {gone[0]!r} is missing, so that it is not drawn")
        return bool(gone)

    hidden = set[str]()
    for mesh in spec.meshes:
        if lost("mesh", mesh.name, mesh.file):
            size = SIZES[mesh.file in large]
            hidden.add(mesh.name)
            mesh.file = mesh.content_type = ""
            mesh.scale = (1, 1, 1)
            mesh.uservert = [0, 0, 0, size, 0, 0, 0, 2 * size, 0, 0, 0, 3 * size]
            mesh.userface = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    for geom in spec.geoms:
        if geom.meshname in hidden:
            geom.rgba = (0, 0, 0, 0)
    for field in spec.hfields:
        if lost("hfield", field.name, field.file):
            field.file = field.content_type = ""
            field.nrow = field.ncol = 2
            field.userdata = [0.0] * 4
    for texture in spec.textures:
        if lost("texture", texture.name, texture.file, *texture.cubefiles):
            texture.file = texture.content_type = ""
            texture.gridsize = (1, 1)
            texture.builtin, texture.width, texture.height = mj.mjtBuiltin.mjBUILTIN_FLAT, 1, 1
            for i in range(len(texture.cubefiles)):
                texture.cubefiles[i] = ""
    for skin in spec.skins:
        if lost("skin", skin.name, skin.file):
            skin.file, skin.bodyname = "", ["world"]
            skin.vert, skin.face = [0, 0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 2]
            skin.vertid, skin.vertweight = [[0, 1, 2]], [[1, 1, 1]]
            skin.bindpos, skin.bindquat = [0, 0, 0], [1, 0, 0, 0]
    return warnings


def bodies_between(one: Any, other: Any) -> list[int]:
    """The bodies that can move and have another inertia in one model than in the other."""
    inertias = ("body_mass", "body_inertia", "body_ipos", "body_iquat")
    return [
        i
        for i in range(1, one.nbody)
        if one.body_weldid[i] and any(not (getattr(one, k)[i] == getattr(other, k)[i]).all() for k in inertias)
    ]


if __name__ == "__main__":
    main()
