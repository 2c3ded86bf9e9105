# Two commands do everything: `make demo` and `make test`; `make bench` measures. All install what they need into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test bench clean

demo: .venv/ready
	$(BIN)/python examples/appell.py

test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto

bench: .venv/ready
	$(BIN)/python benchmarks/solve_stack.py
	$(BIN)/python benchmarks/derive_andrews.py
	$(BIN)/python benchmarks/motion

clean:
	rm -rf .venv

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@
