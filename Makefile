# Every target sets itself up on a machine that has Python 3.11+ and make; a second run sets nothing up again.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
# The page needs Node 20.19+. Without it everything else works; in CI it must be there.
NPM := $(shell command -v npm)
# Every file that is installed has its hash in requirements/. `make lock` updates them.
INSTALL = $(BIN)/python -m pip install --quiet --require-hashes
PAGE_READY := frontend/node_modules/.ready
PAGE := src/salvo/web/static/index.html
PAGE_SOURCES := $(shell find frontend -path frontend/node_modules -prune -o -type f -print)
NO_NODE = { echo "Node is not here, so the page is left out. Install Node 20.19 or newer for it."; test -z "$(CI)"; }

# The tests start hundreds of processes. Without compiled files, each of them would compile every module again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup check test test-browser test-load test-lowest test-frameworks bench demo serve dist pictures clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What the program needs; and, for those who work on it, the tools.
$(INSTALLED): pyproject.toml requirements/build.txt requirements/runtime.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Salvo needs Python 3.11 or newer. Name one: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) -r requirements/build.txt
	@$(INSTALL) -r requirements/runtime.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(READY): $(INSTALLED) requirements/dev.txt
	@echo "Installing the tools to check and test with (once)"
	@$(INSTALL) -r requirements/dev.txt
	@touch $@

$(PAGE_READY): frontend/package-lock.json
	npm ci --prefix frontend --no-audit --no-fund
	@touch $@

$(PAGE): $(PAGE_SOURCES) | $(if $(NPM),$(PAGE_READY))
	@$(if $(NPM),npm run --prefix frontend build,$(NO_NODE))

setup: $(READY) ## make the virtual environment in .venv

check: $(READY) ## lint, format, types, and the layers of the architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(if $(NPM),$(MAKE) --no-print-directory check-page,$(NO_NODE))

.PHONY: check-page types
check-page: $(READY) $(PAGE_READY) # its style and types, and that these are the API's
	npm run --prefix frontend lint
	npm run --prefix frontend typecheck
	@$(BIN)/python -c "$$DESCRIBE" && npm run --prefix frontend types -- --output ../build/schema.d.ts
	@cmp build/schema.d.ts frontend/src/api/schema.d.ts || { echo "The API changed and the page's types did not: make types."; exit 1; }

types: $(READY) $(PAGE_READY) # the page's types, anew from the API
	@$(BIN)/python -c "$$DESCRIBE" && npm run --prefix frontend types -- --output src/api/schema.d.ts

define DESCRIBE
import json, pathlib
from salvo.web.app import create_app
from salvo.web.settings import Settings
pathlib.Path("build").mkdir(exist_ok=True)
pathlib.Path("build/openapi.json").write_text(json.dumps(create_app(Settings("sqlite://")).openapi()))
endef
export DESCRIBE

.PHONY: prices
prices: $(READY) # the bundled table of list prices, from the data of genai-prices
	$(BIN)/python -m tests.support.price_table

.PHONY: look-alikes
look-alikes: $(READY) # the bundled table of letters that look like Latin ones, from Unicode's confusables.txt
	$(BIN)/python -m tests.support.look_alikes_table

.PHONY: docs
docs: $(READY) ## the reference in docs/reference, anew from the program
	$(BIN)/python -m tests.docs.reference

.PHONY: site
site: $(READY) ## the documentation as a website in build/site, with every internal link checked
	@$(INSTALL) -r requirements/site.txt
	$(BIN)/python -m sphinx -q --nitpicky --fail-on-warning --keep-going --builder html docs build/site
	@echo "build/site/index.html"

test: $(READY) $(PAGE) ## the test suite, in parallel, with branch coverage; the page in a browser and what is large: make test-load
	@$(if $(NPM),npm run --prefix frontend test,$(NO_NODE))
	$(BIN)/python -m pytest -p tests.support.coverage.plugin -n auto --dist worksteal --ignore tests/e2e \
	  -m "not browser and not load and not referee and not frameworks and not promptfoo"

test-browser: $(READY) $(PAGE) ## the page in a Chromium, without coverage
	@$(BIN)/python -m tests.support.chromium
	$(BIN)/python -m pytest -n auto --dist worksteal -m "browser and not load" tests/e2e

RAY := .venv-ray
RAY_READY := $(RAY)/.ready

# Ray is large, and the tools do without it. Where it cannot be had, its tests are skipped, and say so.
$(RAY_READY): requirements/ray.txt requirements/build.txt
	@echo "Installing Ray into $(RAY) (once; about a minute)"
	@test -d $(RAY) || $(PYTHON) -m venv $(RAY)
	@{ $(RAY)/bin/python -m pip install --quiet --require-hashes -r requirements/build.txt && \
	  $(RAY)/bin/python -m pip install --quiet --require-hashes -r requirements/ray.txt && \
	  $(RAY)/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable . && touch $@; } || \
	  echo "Ray cannot be installed here, so its tests are skipped."

test-load: $(READY) $(PAGE) $(RAY_READY) ## the page in a Chromium, large data, many processes, simulated statistics and many more generated examples, without coverage
	@$(BIN)/python -m tests.support.chromium
	HYPOTHESIS_PROFILE=load $(BIN)/python -m pytest -n auto --dist worksteal -m "browser or load or referee or hypothesis"

MCP_SDKS := .venv-mcp
MCP_READY := $(MCP_SDKS)/.ready

# The official SDKs of MCP, for Python and for Node.
$(MCP_READY): requirements/mcp.txt tests/frameworks/mcp/package-lock.json
	@test -d $(MCP_SDKS) || $(PYTHON) -m venv $(MCP_SDKS)
	@$(MCP_SDKS)/bin/python -m pip install --quiet --require-hashes -r requirements/mcp.txt
	@$(if $(NPM),npm ci --prefix tests/frameworks/mcp --no-audit --no-fund,$(NO_NODE))
	@touch $@

FRAMEWORKS := .venv-frameworks
FRAMEWORKS_READY := $(FRAMEWORKS)/.ready

# Agent frameworks. Apart from the tools, so that neither decides which versions the other gets.
$(FRAMEWORKS_READY): requirements/frameworks.txt
	@echo "Installing agent frameworks into $(FRAMEWORKS) (once; some minutes)"
	@test -d $(FRAMEWORKS) || $(PYTHON) -m venv $(FRAMEWORKS)
	@$(FRAMEWORKS)/bin/python -m pip install --quiet --require-hashes -r requirements/frameworks.txt
	@touch $@

test-frameworks: $(READY) $(MCP_READY) $(FRAMEWORKS_READY) ## programs of other packages as servers and agents, in environments of their own
	SALVO_FRAMEWORKS_PYTHON="$(CURDIR)/$(FRAMEWORKS)/bin/python" $(BIN)/python -m pytest -n auto --dist worksteal -m frameworks

# Another tool, in a folder of its own. It needs a newer Node.js than the page: PROMPTFOO_NODE=/path/to/node.
PROMPTFOO_VERSION := 0.123.1
PROMPTFOO_NODE ?= node
.PHONY: test-promptfoo
test-promptfoo: $(READY) ## promptfoo itself beside Salvo on one loopback provider: the same verdicts
	@test -d build/promptfoo/node_modules/promptfoo || npm install --prefix build/promptfoo --no-audit --no-fund \
		promptfoo@$(PROMPTFOO_VERSION)
	PROMPTFOO=$(CURDIR)/build/promptfoo/node_modules/.bin/promptfoo PROMPTFOO_NODE=$(PROMPTFOO_NODE) \
		$(BIN)/python -m pytest -n 0 -m promptfoo tests/conformance/test_promptfoo.py

LOWEST := .venv-lowest

test-lowest: $(READY) ## the suite without browser tests, on the lowest dependency versions that pyproject.toml allows
	@mkdir -p build
	@$(BIN)/python -m tests.support.lowest_versions > build/lowest.txt
	@test -d $(LOWEST) || $(PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(LOWEST)/bin/python -m pip install --quiet --constraint build/lowest.txt --editable ".[object-store,oidc,postgresql,similarity,timestamps]" --group dev
	$(LOWEST)/bin/python -m pytest -n auto --dist worksteal -m "not browser and not load and not referee and not frameworks and not promptfoo" --ignore tests/e2e --ignore tests/package --ignore tests/docs

bench: $(READY) ## compare with the official SDKs and bare Python, as ratios
	$(BIN)/python -m bench

demo: $(INSTALLED) ## both products on examples, offline and without any key
	@PATH="$(CURDIR)/$(BIN):$$PATH" examples/demo.sh build/demo

serve: $(INSTALLED) $(PAGE) ## the web page, at a loopback address
	$(BIN)/byop serve

dist: $(READY) ## the sdist and the wheel in dist/, the page in both (needs Node)
	@test -n "$(NPM)" || { echo "A package without the page is none. Install Node 20.19 or newer."; exit 1; }
	@rm -rf dist src/salvo/web/static
	$(BIN)/python -m build --no-isolation
	@tar -tzf dist/*.tar.gz | grep -q web/static/index.html || { echo "The page was not built; npm says why above."; exit 1; }

pictures: $(READY) $(PAGE) ## the pictures of the documentation, anew from the program (needs Node and Chromium)
	@$(INSTALL) -r requirements/pictures.txt
	$(BIN)/python docs/images/make.py

LOCK = $(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

.PHONY: lock audit
lock: $(READY) ## update the locked versions and hashes of all dependencies
	@$(BIN)/python -m pip install --quiet uv
	$(LOCK) requirements/build.in -o requirements/build.txt
	$(LOCK) pyproject.toml -o requirements/runtime.txt
	$(LOCK) --group pyproject.toml:site -c requirements/runtime.txt -o requirements/site.txt
	$(LOCK) --group pyproject.toml:pictures -c requirements/site.txt -o requirements/pictures.txt
	$(LOCK) --group pyproject.toml:mcp -o requirements/mcp.txt
	$(LOCK) --group pyproject.toml:frameworks -o requirements/frameworks.txt
	$(LOCK) --group pyproject.toml:audit -c requirements/runtime.txt -o requirements/audit.txt
	$(LOCK) pyproject.toml --extra ray -c requirements/runtime.txt -o requirements/ray.txt
	$(LOCK) pyproject.toml --extra object-store --extra oidc --extra postgresql --extra similarity --extra timestamps --group dev -c requirements/build.txt -c requirements/runtime.txt \
	  -c requirements/site.txt -c requirements/pictures.txt -o requirements/dev.txt
	@$(if $(NPM),npm update --prefix frontend --no-audit --no-fund,$(NO_NODE))
	@$(if $(NPM),npm update --prefix tests/frameworks/mcp --no-audit --no-fund,$(NO_NODE))

audit: $(READY) $(PAGE_READY) ## bills of materials in build/, and known vulnerabilities of what is locked (needs the internet)
	@test -d build/audit || $(PYTHON) -m venv build/audit
	@build/audit/bin/python -m pip install --quiet --require-hashes -r requirements/audit.txt
	build/audit/bin/cyclonedx-py requirements requirements/runtime.txt --output-file build/sbom-python.json
	npm sbom --prefix frontend --omit dev --sbom-format cyclonedx > build/sbom-page.json
	build/audit/bin/pip-audit --require-hashes --disable-pip -r requirements/runtime.txt -r requirements/dev.txt
	npm audit --prefix frontend

clean: ## remove what the targets made
	rm -rf $(VENV) $(LOWEST) $(MCP_SDKS) $(FRAMEWORKS) $(RAY) tests/frameworks/mcp/node_modules build .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist frontend/node_modules src/salvo/web/static
