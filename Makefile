# Everything a developer does with the project. `make` alone lists it.

PYTHON ?= python3
# Processes for pytest: two is the fastest on two cores, and more than the cores is slower.
WORKERS ?= 2
# Which parts of bench/ are measured; nothing means all of them.
BENCHMARKS ?=
# Which curves of bench/growth are measured; nothing means all of them.
CURVES ?=

BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test check soak soak-cluster bench bench-json bench-growth bench-docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(READY) ## create .venv with everything the other targets need

# Both variables are for pip's own build step, which does not look at -c. Which of them is read
# depends on the version of pip.
$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing the pinned dependencies into .venv" >&2
	@PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
		$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]' >&2
	@touch $@

demo: $(READY) ## run a playbook against an API that fails twice, and show what happens
	@$(BIN)/python examples/demo.py

test: check ## the gates of `check`, then every test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q

check: $(READY) ## ruff, mypy --strict, import-linter and the house rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -q tests/test_tidy.py

soak: $(READY) ## kill random runs at random for SOAK_SECONDS (600 unless set)
	@$(BIN)/python -m tests.crash.soak

soak-cluster: $(READY) ## break a cluster on PostgreSQL at random for CLUSTER_SOAK_SECONDS (300 unless set)
	@$(BIN)/python -m tests.cluster.soak

bench: $(READY) ## measure (20 minutes), and print a table with the targets; BENCHMARKS=durable.steps for one part
	@$(BIN)/python -m bench $(BENCHMARKS)

bench-json: $(READY) ## measure, and print nothing but a JSON list on standard output
	@$(BIN)/python -m bench --json $(BENCHMARKS)

bench-growth: $(READY) ## measure how costs grow (15 minutes); CURVES="chain loop" for some
	@$(BIN)/python -m bench.growth $(CURVES)

bench-docs: $(READY) ## write docs/benchmarks.md and its plots from what was measured last
	@$(BIN)/python -m bench.report

clean: ## remove what the targets made, .venv included
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
