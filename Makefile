# make pack   sets everything up and makes the release pack from configs/release.toml in output/release/
# make test   sets everything up and runs the tests, but for those marked `soak`
# make help   lists the rest
#
# Everything lives in one virtual environment, .venv, built from .ci/constraints.txt; it is rebuilt only when that file or
# pyproject.toml changes. PYTHON names the interpreter that makes it (3.11 or newer).

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-input --constraint .ci/constraints.txt

BENCHES := solver players assembly stages scaling start

.DEFAULT_GOAL := help
.PHONY: help setup pack test soak lint pictures survey signature golden schema constraints clean bench $(addprefix bench-,$(BENCHES))

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

setup: $(READY) ## make .venv and install everything into it

$(READY): pyproject.toml .ci/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.x")'
	@echo "Setting up .venv (a minute or two, once) ..."
	@$(PYTHON) -m venv .venv || { echo "A virtual environment cannot be made; on Debian: apt install python3-venv"; exit 1; }
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation --editable '.[cluster,calibrate,dev]'
	@touch $@

pack: $(READY) ## make the release pack in output/release/
	@$(BIN)/number-match run -c configs/release.toml -o output/release

test: $(READY) ## run the tests
	@$(BIN)/python -m pytest

soak: $(READY) ## run the long tests
	@$(BIN)/python -m pytest -m soak

lint: $(READY) ## check style and types
	@$(BIN)/ruff check
	@$(BIN)/mypy

pictures: pack ## take the README's pictures of the release pack into .github/ (needs a Chromium)
	@cd tests && ../$(BIN)/python -m seeing.pictures ../output/release ../.github

survey: $(READY) ## the README's survey of random boards in output/survey/, and its chart in .github/; some five minutes
	@$(BIN)/number-match survey -o output/survey && cp output/survey/survey.png .github/

signature: $(READY) ## solve and score fixed boards and print one number, which a refactor leaves alone
	@$(BIN)/python tests/signature.py $(if $(KEEP),--keep)

golden: $(READY) ## make the golden packs of tests/packs anew, when a behaviour version went up
	@for name in veyra narrow; do \
	  $(BIN)/number-match run -c tests/packs/$$name.toml -o output/golden-$$name --quiet && \
	  cp output/golden-$$name/pack.json tests/packs/$$name.pack.json || exit 1; done

bench: $(READY) ## all benchmarks, small, in some ten minutes; tables, and output/bench/bench.json
	@$(BIN)/python tests/bench/everything.py output/bench/bench.json

bench-solver: $(READY) ## how strong and how fast the solver is (YARDSTICK=folder: beside the bare programs there)
	@$(BIN)/python tests/bench/solver.py $(if $(YARDSTICK),--yardstick $(YARDSTICK))

bench-players: $(READY) ## how fast and how good the players are (YARDSTICK=folder: beside the bare numba program there)
	@$(BIN)/python tests/bench/players.py $(if $(YARDSTICK),--yardstick $(YARDSTICK))

bench-assembly: $(READY) ## assemble 2,000 Stages from 200,000 puzzles and print times and memory
	@$(BIN)/python tests/bench/assembly.py

bench-stages: $(READY) ## seconds and boards a second of each stage
	@$(BIN)/python tests/bench/stages.py

bench-scaling: $(READY) ## CPU and memory with 1 and 2 workers (CANDIDATES="20000 200000", WORKERS="1 2 4")
	@$(BIN)/python tests/bench/scaling.py $(if $(CANDIDATES),--candidates $(CANDIDATES)) $(if $(WORKERS),--workers $(WORKERS))

bench-start: $(READY) ## how soon commands answer
	@$(BIN)/python tests/bench/start.py

schema: $(READY) ## write the JSON Schemas of pack and config anew
	@for name in pack config; do \
	  $(BIN)/number-match schema $$name > pipeline/number_match/schema/$$name.schema.json || exit 1; done

constraints: $(READY) ## choose the newest versions that pyproject.toml allows, into .ci/constraints.txt
	@UV_CUSTOM_COMPILE_COMMAND="make constraints" $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	  --all-extras --no-emit-index-url --no-annotate pyproject.toml --output-file .ci/constraints.txt

clean: ## remove the virtual environment and what tools leave behind; output/ stays
	@rm -rf .venv dist .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find pipeline tests -name __pycache__ -type d -prune -exec rm -rf {} +
