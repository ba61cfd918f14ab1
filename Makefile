# Two commands do everything on a fresh machine: make demo, make test.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint docs bench clean

demo: $(VENV)/.installed
	@$(BIN)/shoal demo

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W -n --keep-going -q docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/trees.py
	$(BIN)/shoal bench adult

# The package is installed editable, so a stamp per extra is all there is to keep current.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

clean:
	rm -rf $(VENV) build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis demo
