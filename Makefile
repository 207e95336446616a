# zklake: `make` lists the targets. Each makes its own .venv and JAR cache when they are missing.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3.11
BIN := .venv/bin
STAMP := .venv/.installed
JARS := .venv/.jars
PYTEST := $(BIN)/pytest -q
# Most tests wait for servers: three at a time take half as long. A file stays with one worker; which
# comes first says tests/conftest.py.
WORKERS ?= 3

.PHONY: help install check audit sbom test test-unit test-faults soak run bench docs lock clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort -t : -k 1,1 | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

install: $(STAMP) $(JARS) ## Make .venv and fetch every JAR
	@echo "zklake is installed: $(BIN)/zklake --help"

$(STAMP): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "zklake needs Python 3.11: install it (Debian: python3.11 python3.11-venv) or set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@command -v "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" >/dev/null || { echo "zklake needs Java 17 or newer: install it (Debian: openjdk-17-jre-headless) or set JAVA_HOME" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing Python packages (a minute or two)"
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(JARS): jars.lock $(STAMP)
	$(BIN)/zklake jars fetch
	@touch $@

run: install ## Start the whole product on an embedded cluster
	$(BIN)/zklake run

check: $(STAMP) ## Lint, types, import rules and known vulnerabilities
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(MAKE) --no-print-directory audit

# In a .venv of its own: it is no part of the product, and not always to be had.
audit: $(STAMP) ## Known vulnerabilities of the lock, where pip-audit's data can be reached
	@test -x .venv-audit/bin/pip-audit || { $(PYTHON) -m venv .venv-audit && timeout 120 .venv-audit/bin/pip install --quiet --disable-pip-version-check pip-audit; } 2>/dev/null || true
	@$(BIN)/python -m deploy.audit .venv-audit/bin/pip-audit

sbom: $(STAMP) ## What zklake is made of: dist/zklake.cdx.json, CycloneDX
	@mkdir -p dist
	$(BIN)/python -m deploy.sbom > dist/zklake.cdx.json

test-unit: $(STAMP) ## The tests that need no JVM (minutes)
	$(PYTEST) -m "not spark and not integration and not e2e and not browser and not faults"

test: install check ## Everything CI runs: check, then all tests but the long ones
	$(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not faults"

test-faults: install ## The long fault runs; SEEDS="7 8" chooses those of the whole pipeline
	FAULT_SEEDS="$(SEEDS)" $(PYTEST) -m faults

soak: install ## HOURS=3: everything runs for hours, faults in the second half; does anything grow?
	$(BIN)/python -m tests.e2e.soak $(HOURS)

bench: install ## Measure, as ratios against a control in the same run
	$(BIN)/python -m bench

# A document that cannot be made stays as it was.
write = $(BIN)/python -m $(1) > $(2).new && mv $(2).new $(2)

docs: $(STAMP) ## Regenerate the generated documents
	$(call write,zklake.settings.docs,docs/settings.md)
	$(BIN)/python -m zklake.events.docs
	$(call write,delta_tables.docs,docs/tables.md)
	$(call write,dashboard.metrics.docs,docs/metrics.md)
	$(call write,deploy.process_metrics,docs/process-metrics.md)
	$(call write,dashboard.openapi.docs,docs/api.md)
	$(BIN)/python -m deploy.grafana.writing

lock: ## Rebuild requirements.lock and jars.lock from what is wanted
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip install --quiet pip-tools
	.venv-lock/bin/python -c 'import tomllib; g = tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]; print(*[r for v in g.values() for r in v if isinstance(r, str)], sep="\n")' > .venv-lock/groups.in
	.venv-lock/bin/pip-compile --quiet --all-extras --generate-hashes --allow-unsafe --strip-extras --no-annotate --no-header --no-emit-index-url --no-emit-find-links --output-file requirements.lock pyproject.toml .venv-lock/groups.in
	rm -rf .venv-lock
	$(BIN)/zklake jars lock

clean: ## Remove what the targets made here (the JAR cache stays)
	rm -rf .venv .venv-lock .venv-audit .mypy_cache .ruff_cache .pytest_cache .hypothesis .zklake dist
