# Two commands do everything: `make demo` and `make test`; they install what they need into .venv.
# `make quick` tests something of every room in less than a minute; `make wheel` builds the wheel and uses it.
# `make test-lowest` runs something of every room with the lowest versions that pyproject allows, in .venv-lowest.
# `make graph` prints the rooms, what they import and which rules of the house are broken.
# `make walk` prints one motion as it goes through the rooms, from a trace.
# `make bits` runs all examples on the tree of a commit (BASE) and on this one, and compares them to the last bit.
# `make mutate` makes small mistakes in the core, one at a time, and lists those that no test noticed: some minutes.
# `make bench` sets zwang beside its peers, in .venv-bench; `make bench-parts` measures its parts.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test quick rolled wheel graph walk bits mutate fuzz bench bench-parts clean

demo: .venv/ready
	@mkdir -p build/demo
	$(BIN)/zwang run andrews --out build/demo/andrews.nc --report build/demo/andrews.html
	@echo "Open build/demo/andrews.html in a browser; build/demo/andrews.nc holds the numbers."

test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/graph.py --quiet
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site
	$(BIN)/python tools/wheel.py
	$(BIN)/python -m pytest -n auto

QUICK := dense model/test_check.py model/test_constraint.py model/test_identity.py model/test_system.py linalg \
  formulations/test_fundamental.py formulations/test_gauss.py formulations/test_derivative.py formulations/test_stacks.py \
  equations/test_languages.py equations/test_latex.py compile/test_builders.py compile/test_kernel.py \
  compile/test_program.py compile/restricted/test_restricted.py engines/native/test_tableau.py engines/native/test_engine.py engines/native/test_runs.py \
  lowering/test_acceleration.py engines/test_events.py motion/test_simulate.py motion/ensemble/test_many.py motion/test_direction.py \
  analysis/test_spectrum.py \
  compile/test_tangent.py nonsmooth/test_nonsmooth.py results multibody/test_mechanism.py files/test_read.py files/language/test_grammar.py \
  files/toml/test_positions.py files/test_write.py show/test_scene.py show/test_plot.py cli/commands/test_run.py cli/test_error_boundary.py \
  cli/test_help.py test_evaluation.py test_verdict.py test_words.py model/test_signal.py model/test_symbols.py model/test_values.py test_time_limit.py \
  test_public.py test_house.py
quick: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n 2 $(addprefix tests/,$(QUICK))

# References, crossings and events of small systems on the loops that large ones get. One is left out: the heavy top's
# limit of 1e-9 is where rounding ends, straight (0.97e-9) or rolled (1.05e-9): for 16 tolerances from 1e-15 on, which
# differ by three parts in a hundred, the errors are 1.15e-9 ± 0.41e-9 straight and 1.14e-9 ± 0.29e-9 rolled.
rolled: .venv/ready
	$(BIN)/python -m pytest -n auto --rolled tests/motion tests/engines tests/multibody \
	  --deselect "tests/motion/test_references.py::test_heavy_top_in_euler_parameters[native]"

wheel: .venv/ready
	$(BIN)/python tools/wheel.py

graph: .venv/ready
	$(BIN)/python tools/graph.py

walk: .venv/ready
	$(BIN)/python tools/walk.py $(ARGS)

BASE ?= main
bits: .venv/ready
	rm -rf build/bits && mkdir -p build/bits && git archive $(BASE) src | tar -x -C build/bits
	PYTHONPATH=$(CURDIR)/build/bits/src $(BIN)/python tools/same_bits.py write build/bits/before.npz
	$(BIN)/python tools/same_bits.py compare build/bits/before.npz

mutate: .venv/ready
	$(BIN)/python tools/mutate.py $(ARGS)

fuzz: .venv/ready  # 22,000 model files, 600 stores, 600 motions and 3,000 robots at random: a quarter of an hour
	$(BIN)/python -m pytest -m slow

# Warnings that something will go away come from old packages beside new ones.
LOWEST := linalg formulations/test_stacks.py formulations/test_one_sided.py equations/test_latex.py equations/test_papers.py \
  compile/test_builders.py compile/test_kernel.py model files/test_read.py files/test_store.py lowering \
  engines/scipy/test_engine.py engines/taylor/test_translate.py \
  motion/test_simulate.py motion/ensemble motion/test_independent.py \
  multibody/test_redundant.py multibody/readers/test_mjcf.py results show/test_plot.py show/test_animate.py \
  cli/commands/test_run.py cli/test_error_boundary.py cli/test_help.py cli/test_process.py test_evaluation.py test_verdict.py
test-lowest: .venv-lowest/ready
	.venv-lowest/bin/python -m pytest -n auto -W ignore::DeprecationWarning $(addprefix tests/,$(LOWEST))

bench: .venv-bench/ready
	.venv-bench/bin/python -m benchmarks.peers $(ARGS)

bench-parts: .venv/ready
	$(BIN)/python benchmarks/solve_stack.py
	$(BIN)/python benchmarks/calls.py
	$(BIN)/python benchmarks/derive_andrews.py
	$(BIN)/python benchmarks/motion
	$(BIN)/python benchmarks/multibody.py
	$(BIN)/python benchmarks/large.py
	$(BIN)/python benchmarks/analysis.py

clean:
	rm -rf .venv .venv-lowest .venv-bench build

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group dev --editable .
	touch $@

.venv-lowest/ready: pyproject.toml tests/lowest.py
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade pip
	.venv-lowest/bin/python tests/lowest.py > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint .venv-lowest/lowest.txt --group dev --editable .
	touch $@

.venv-bench/ready: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --upgrade pip
	.venv-bench/bin/python -m pip install --quiet --editable ".[bench]" \
	  || (.venv-bench/bin/python -m pip install --quiet --editable . && \
	      for peer in heyoka mujoco exudyn pin drake casadi jax diffrax "pydy cython setuptools"; do \
	        .venv-bench/bin/python -m pip install --quiet $$peer || echo "$$peer cannot be installed here"; done)
	touch $@
