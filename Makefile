# Every target sets itself up on a machine that has Python 3.11+ and make; a second run sets nothing up again.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup check test bench demo serve clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Salvo needs Python 3.11 or newer. Name one: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up $(VENV) (once; a few minutes at most)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

setup: $(READY) ## make the virtual environment in .venv

check: $(READY) ## lint, format, types, and the layers of the architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(READY) ## the whole test suite, in parallel, with branch coverage
	$(BIN)/python -m pytest -n auto --cov --cov-report=term

bench: $(READY) ## compare with the official SDKs and bare Python, as ratios
	$(BIN)/python -m bench

demo: $(READY) ## the main job, offline and without any key
	@rm -rf build/demo && mkdir -p build
	@cd build && ../$(BIN)/salvo init demo
	@cd build/demo && ../../$(BIN)/salvo run --record || test $$? -eq 1
	@echo && echo "Two runs failed. The replay of the last one shows why, without calling anyone:" && echo
	@cd build/demo && ../../$(BIN)/salvo replay $$(../../$(BIN)/salvo report --failures | awk 'END { print $$1 }')
	@echo && echo "A playbook on an AI-written review, and then on a worse version of it:" && echo
	@cd build/demo && cp ../../examples/outputs/*.md . && ../../$(BIN)/byop run dpa_review.md --subject demo --save-baseline
	@cd build/demo && ../../$(BIN)/byop run dpa_review_degraded.md --subject demo -o report.html || test $$? -eq 1
	@cd build/demo && ../../$(BIN)/byop drift --subject demo
	@echo && echo "Try next, in build/demo: open report.html; byop verify latest; edit travel_agent.py, then salvo run."

serve: $(READY) ## the web page
	@echo "The web page is not built yet; it comes with 'byop serve'."; exit 1

clean: ## remove what the targets made
	rm -rf $(VENV) .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist
