# Two commands matter: `make demo` (the main job on embedded defaults) and `make test` (everything CI runs).
# PYTHON=python3.12 make demo     another interpreter
# PIP_FLAGS="--index-url URL"     another package index (a CPU or CUDA build of torch, say)
# BASE=alpine:3.20                another image to build the sandbox on

PYTHON ?= python3
PIP_FLAGS ?=
BASE ?= alpine:3.20
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check env dev engine image lint clean

demo: env image
	@PATH="$(CURDIR)/$(BIN):$$PATH" runs/demo.sh

test check: dev image lint
	@echo "== tests"
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile

lint: dev
	@echo "== ruff, format, mypy, shellcheck"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/shellcheck sandbox/sh/*.sh runs/*.sh .ci/run

env: $(VENV)/installed

$(VENV)/installed: requirements.txt
	@echo "== environment: $(VENV) from requirements.txt (minutes the first time, torch is large)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -r requirements.txt
	@touch $@

dev: $(VENV)/installed-dev

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	@echo "== environment: what tests and benches need, from requirements-dev.txt"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -r requirements-dev.txt
	@touch $@

engine:
	@runs/engine.sh

# Built again only when the Dockerfile or the wish for a base changed: a new image id would part a run from its resume.
image: engine
	@BASE="$(BASE)" runs/image.sh

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
