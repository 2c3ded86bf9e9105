"""MuJoCo's compiler works in a process of its own: what it gives is exact, and nothing that it is given can harm."""

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest

from tests.multibody.readers.test_mjcf import TREE
from zwang import multibody as mb
from zwang.errors import ModelFileError
from zwang.multibody.readers import mjcf_process
from zwang.multibody.readers.mjcf_process import COMPILER, SCRIPT, compiled_model

mujoco = pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")
resource = pytest.importorskip("resource", reason="limits of memory are POSIX's")

BODY = '<body><joint name="j"/><geom size="0.1"/></body>'
MUSCLE = '<actuator><muscle name="m" joint="j"/></actuator>'
PLAIN = f"<mujoco><worldbody>{BODY}</worldbody></mujoco>"


def model(world: str = BODY, before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>"


# What MuJoCo's own compiler takes gigabytes for, or does not come to an end with.
BOMBS = {
    "texture": model(before='<asset><texture name="t" type="2d" builtin="flat" width="60000" height="60000"/></asset>'),
    "cube": model(before='<asset><texture name="t" type="cube" builtin="flat" width="20000" height="20000"/></asset>'),
    "height field": model(before='<asset><hfield name="h" size="1 1 1 1" nrow="40000" ncol="40000"/></asset>'),
    "own data": model(before='<size nuser_body="1000000000"/>'),
    "flexible": model(BODY + '<flexcomp name="f" type="grid" count="300 300 300" spacing="1 1 1"/>'),
    "nested": model(BODY + '<replicate count="10" offset="1 0 0">' * 7 + '<geom size="1"/>' + "</replicate>" * 7),
    "repeated": model(BODY + '<replicate count="1000000000"><geom size="1"/></replicate>'),
    "length range": model(before='<compiler><lengthrange inttotal="1e9" timestep="1e-9"/></compiler>', after=MUSCLE),
    "shape": model(
        BODY + '<body><joint/><geom type="mesh" mesh="s"/></body>',
        '<asset><mesh name="s" builtin="supersphere" params="20000 1 1"/></asset>',
    ),
    "bodies": model(BODY.replace(' name="j"', "") * 20_000),
    "keys": model(after="<keyframe>" + '<key qpos="0"/>' * 200_000 + "</keyframe>"),
}  # fmt: skip


@pytest.mark.parametrize("what", BOMBS)
def test_what_explodes_is_refused_in_bounded_time_and_memory(what):
    COMPILER.end()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(ModelFileError, match="MuJoCo's compiler") as caught:
        mb.read_mjcf(BOMBS[what])
    COMPILER.end()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 4
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a child begins with what its parent has
    assert after.ru_maxrss <= max(before.ru_maxrss, own + (600 << 10))  # of all children until now
    assert "\n\n" not in str(caught.value)
    assert len(mb.read_mjcf(PLAIN).mechanism.bodies) == 1  # and another model is read after it


def test_not_a_number_is_refused_before_anything_is_compiled():
    text = model(BODY.replace("<body>", '<body name="b" pos="nan 0 0">'), after=MUSCLE)
    with pytest.raises(ModelFileError, match="body 'b': pos='nan 0 0' has NaN in it"):
        mb.read_mjcf(text)
    named = mb.read_mjcf(PLAIN.replace('name="j"', 'name="nan"'))
    assert [joint.name for joint in named.mechanism.joints] == ["nan"]


def test_a_pipe_in_place_of_a_mesh_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "m.stl")
    geom = '<geom type="mesh" mesh="m"/>'
    text = model(f"<body><joint/>{geom}</body>", before='<asset><mesh name="m" file="m.stl"/></asset>')
    (tmp_path / "m.xml").write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"'m\.stl' leads out of the model's folder by a link, or is no file"):
        mb.read_mjcf(tmp_path / "m.xml")


def test_numbers_that_overflow_are_refused_by_name():
    text = model('<body pos="0 0 1e200"><joint/><geom size="0.1"/></body>')
    with pytest.raises(ModelFileError, match=r"body_pos of MuJoCo's model has numbers beyond 1e\+40"):
        mb.read_mjcf(text)
    limited = '<body><joint name="j" range="-1e300 1" limited="true"/><geom size="0.1"/></body>'
    robot = mb.read_mjcf(model(limited, before='<compiler angle="radian"/>'), limits=True)
    assert [c.name for c in robot.mechanism.system.constraints if c.one_sided] == ["j.upper"]


def test_what_comes_back_is_what_mujoco_compiles():
    """Every array and number equals that of MuJoCo's own call, bit by bit."""
    spec = spec_from_file_location("compiler", SCRIPT)
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    ours, _ = compiled_model(TREE, None, set(), 0)
    theirs = mujoco.MjModel.from_xml_string(TREE)
    for name in (*script.FIELDS, *script.OPTIONS):
        value = getattr(theirs, name, getattr(theirs.opt, name, None))
        if value is None:
            assert not hasattr(ours, name)
        elif isinstance(value, bytes):
            assert bytes(getattr(ours, name)) == value
        else:
            np.testing.assert_array_equal(getattr(ours, name), value)


def test_one_process_serves_many_models():
    mb.read_mjcf(PLAIN)
    first = COMPILER.process.pid
    with pytest.raises(ModelFileError):
        mb.read_mjcf("<mujoco><worldbody><body><wrong/></body></worldbody></mujoco>")
    mb.read_mjcf(PLAIN)
    assert COMPILER.process.pid == first
    COMPILER.process.kill()  # as when it ended by itself, being idle
    COMPILER.process.wait()
    mb.read_mjcf(PLAIN)
    assert COMPILER.process.pid != first


def test_a_process_that_dies_while_it_compiles_is_a_sentence(monkeypatch):
    monkeypatch.setattr(mjcf_process, "SCRIPT", mjcf_process.SCRIPT.with_name("frame.py"))
    COMPILER.end()
    with pytest.raises(ModelFileError, match="MuJoCo's compiler gave up"):
        mb.read_mjcf(PLAIN)
    COMPILER.end()


SCRIPTS = {
    "unguarded": "import zwang.multibody as mb\nprint(len(mb.read_mjcf(TEXT).mechanism.bodies))",
    "forked": """import os, zwang.multibody as mb
mb.read_mjcf(TEXT)
if os.fork() == 0:
    os._exit(len(mb.read_mjcf(TEXT).mechanism.bodies))
print(os.waitstatus_to_exitcode(os.wait()[1]) * len(mb.read_mjcf(TEXT).mechanism.bodies))""",
    "forked while it is asked": """import os, threading, time, zwang.multibody as mb
from zwang.multibody.readers.mjcf_process import COMPILER
mb.read_mjcf(TEXT)
held = threading.Event()
def ask():
    with COMPILER.lock:
        held.set()
        time.sleep(1)
threading.Thread(target=ask).start()
held.wait()
if os.fork() == 0:
    os._exit(len(mb.read_mjcf(TEXT).mechanism.bodies))
print(os.waitstatus_to_exitcode(os.wait()[1]))""",
    "interrupted": """import os, signal, threading, zwang.multibody as mb
from zwang.multibody.readers import mjcf_process as process
process.SECONDS = 60.0
mb.read_mjcf(TEXT)
pid = process.COMPILER.process.pid
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    mb.read_mjcf(BOMB)
except KeyboardInterrupt:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        print(1)""",
}


@pytest.mark.parametrize("how", SCRIPTS)
def test_scripts_need_no_guard_may_fork_and_may_be_interrupted(how, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"TEXT, BOMB = {PLAIN!r}, {BOMBS['repeated']!r}\n{SCRIPTS[how]}\n")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path, env=os.environ
    )
    assert (done.stdout, done.stderr) == ("1\n", "")
