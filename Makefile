# Everything a developer does with the project. `make` alone lists it.

PYTHON ?= python3
# Processes for pytest: on two cores four are faster than two, because many tests wait for a clock,
# a process, a disk or a browser.
WORKERS ?= 4
# Which parts of bench/ are measured; nothing means all of them.
BENCHMARKS ?=
# Which curves of bench/growth are measured; nothing means all of them.
CURVES ?=

# Where a shell tells Python to keep no bytecode, every process would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=

BIN := .venv/bin
READY := .venv/.ready
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q
# The page as the server has it, and what it is made of.
PAGE := src/anew/surfaces/web/built/index.html
PAGE_SOURCES := $(shell find web/src web/public -type f) \
	web/index.html web/package.json web/package-lock.json web/vite.config.ts web/tsconfig.json

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test test-daily test-long check check-page web browser bubblewrap docs-site screenshots soak soak-cluster hashes verify-hashes notice sbom abuse-json bench bench-json bench-growth bench-docs clean

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

demo: $(READY) ## anew demo: a run that retries, is killed, and resumes
	@$(BIN)/anew demo

serve: $(READY) $(PAGE) ## a server with runs in every state, and its page to look at them
	@$(BIN)/python examples/serve.py

web: $(PAGE) ## build the page into the package

$(PAGE): $(READY) $(PAGE_SOURCES)
	@echo "building the page" >&2
	@$(BIN)/python web/build.py >&2
	@touch $@

bubblewrap: $(READY) ## install bubblewrap for the tests of the sandbox, where that may be done
	@$(BIN)/python -m tests.tools.bubblewrap

browser: $(READY) ## install a Chromium for the tests of the page, where that may be done
	@$(BIN)/python -m tests.web.chromium

test: $(READY) $(PAGE) browser bubblewrap ## what must pass on a working day (8 minutes): every test that is not long, and all gates
	@$(MAKE) --no-print-directory -j3 $(if $(filter output-sync,$(.FEATURES)),-Otarget) test-daily check check-page

# Next to the gates, which leave a core idle. `+` shows what pytest prints at once, not at its end.
test-daily: $(READY)
	+$(PYTEST) -m "not long"

test-long: $(READY) $(PAGE) browser bubblewrap ## the other tests: every kill, random programs, every page, every documented command
	$(PYTEST) -m long

check-page: $(READY) ## types, lint, format and component tests of the page
	@$(BIN)/python web/build.py check

check: $(READY) ## ruff, mypy --strict, import-linter and the house rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -q tests/test_tidy.py

docs-site: $(READY) ## build the documentation into build/site, with every link checked
	@$(BIN)/python -m docs.site

screenshots: $(READY) $(PAGE) browser ## take the pictures of the documentation again
	@$(BIN)/python -m pytest -q -p no:xdist tests/web/test_tour.py
	@mkdir -p docs/screenshots && rm -f docs/screenshots/*.png
	@for name in $$(grep -rhoE --include='*.md' 'tour-[a-z-]+\.png' README.md docs | sort -u); do \
		cp "build/screenshots/$$name" docs/screenshots/; done

soak: $(READY) ## kill random runs at random for SOAK_SECONDS (600 unless set)
	@$(BIN)/python -m tests.crash.soak

soak-cluster: $(READY) ## break a cluster on PostgreSQL at random for CLUSTER_SOAK_SECONDS (300 unless set)
	@$(BIN)/python -m tests.cluster.soak

hashes: $(READY) ## write hashes.txt: the files behind the pins, as pip finds them on this platform
	@$(BIN)/python -m supply hashes

verify-hashes: $(READY) ## download every pinned package; fail when its SHA-256 is not in hashes.txt
	@rm -rf build/packages
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps \
		--dest build/packages -r hashes.txt
	@echo "every package has a SHA-256 of hashes.txt"

notice: $(READY) $(PAGE) ## write NOTICE: the packages Anew uses, and their licences
	@$(BIN)/python -m supply notice

sbom: $(READY) ## write build/sbom.json: what Anew is made of, as CycloneDX
	@$(BIN)/python -m supply sbom

abuse-json: $(READY) bubblewrap ## try every abuse case, and print how many got through, by area, as JSON
	@$(BIN)/python -m tests.abuse -n $(WORKERS) --dist worksteal

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
	rm -rf web/node_modules src/anew/surfaces/web/built
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
