# Two commands do everything: `make demo` and `make test`; they install what they need into .venv.
# `make bench` sets zwang beside its peers, in .venv-bench; `make bench-parts` measures its parts.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test fuzz bench bench-parts clean

demo: .venv/ready
	@mkdir -p build/demo
	$(BIN)/zwang run andrews --out build/demo/andrews.nc --report build/demo/andrews.html
	@echo "Open build/demo/andrews.html in a browser; build/demo/andrews.nc holds the numbers."

test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site
	$(BIN)/python -m pytest -n auto

fuzz: .venv/ready  # 22,000 model files at random: a quarter of an hour
	$(BIN)/python -m pytest -m slow

bench: .venv-bench/ready
	.venv-bench/bin/python -m benchmarks.peers $(ARGS)

bench-parts: .venv/ready
	$(BIN)/python benchmarks/solve_stack.py
	$(BIN)/python benchmarks/derive_andrews.py
	$(BIN)/python benchmarks/motion
	$(BIN)/python benchmarks/multibody.py

clean:
	rm -rf .venv .venv-bench build

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

.venv-bench/ready: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --upgrade pip
	.venv-bench/bin/python -m pip install --quiet --editable ".[bench]" \
	  || (.venv-bench/bin/python -m pip install --quiet --editable . && \
	      for peer in heyoka mujoco exudyn pin drake casadi jax diffrax "pydy cython setuptools"; do \
	        .venv-bench/bin/python -m pip install --quiet $$peer || echo "$$peer cannot be installed here"; done)
	touch $@
