# make demo     the whole pipeline on built-in defaults, 14 minutes
# make test     everything that CI runs: lint, types and all tests
# make base     base/smollm2, the model that every script takes where no --base is given (downloads 93 MB)
# make env      .venv with what the scripts need (make dev: and what tests and benches need)
# make chromium Chromium and its driver, for the tests of the page; installs them if it can
# make peers    .venv-peers with the tools whose formats tests compare with
# make image    the sandbox image sekft-dash; starts Docker if it can (make engine: only that)
# make lint     ruff, mypy, shellcheck
# make clean    remove .venv, demo/ and caches
#
# PYTHON=python3.12 make demo     use another interpreter
# PIP_FLAGS="--index-url URL"     use another package index, for example for a CPU or CUDA build of torch
# BASE=alpine:3.20                build the sandbox image on another image

PYTHON ?= python3
PIP_FLAGS ?=
BASE ?= alpine:3.20
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
HARBOR := harbor==0.26.0

.PHONY: demo test check base env dev peers engine image chromium lint clean

demo: env image
	@PATH="$(CURDIR)/$(BIN):$$PATH" runs/demo.sh

base: env
	@$(BIN)/python get_base.py

test check: dev peers image chromium lint
	@echo "== tests"
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile

lint: dev
	@echo "== ruff, format, mypy, shellcheck"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/shellcheck sandbox/sh/*.sh formats/sh/*.sh runs/*.sh examples/*/*.sh .ci/run

env: $(VENV)/installed
	@:

$(VENV)/installed: requirements.txt
	@echo "== environment: $(VENV) from requirements.txt (takes minutes: torch is large)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -r requirements.txt
	@touch $@

dev: $(VENV)/installed-dev

$(VENV)/installed-dev: requirements-dev.txt requirements-ray.txt $(VENV)/installed
	@echo "== environment: packages for tests and benches, from requirements-dev.txt"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -r requirements-dev.txt
	@touch $@

peers: $(PEERS)/installed

# Harbor asks for Python 3.12. Only its models are used here: they run on 3.11 and need none of its other dependencies.
$(PEERS)/installed: requirements-peers.txt Makefile
	@echo "== environment: $(PEERS) from requirements-peers.txt"
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-peers.txt
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python $(HARBOR)
	@touch $@

engine:
	@runs/engine.sh

chromium:
	@runs/chromium.sh

# runs/image.sh builds only if Dockerfile or recipe changed: a run does not resume on another image.
image: engine
	@BASE="$(BASE)" runs/image.sh

clean:
	rm -rf $(VENV) $(PEERS) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
