# Two commands for everybody: `make demo` and `make test`. Everything lives in this folder (.venv, .postmill …);
# paths with spaces, root and plain users are all fine.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help venv demo example test test-suite test-matrix test-long lint format schema reference messages pictures docs \
        bench-peers clean

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
# Compiled modules are kept: the tests start many processes.
unexport PYTHONDONTWRITEBYTECODE
PY := .venv/bin/python
# More than processors: about every second test waits for something. Who is done takes over tests of others.
WORKERS ?= 4
PYTEST = -m pytest -n $(WORKERS) --dist worksteal
# Only these files are read for the matrix.
MATRIX = -m 'matrix and not long' $$(grep -rl --include='*.py' 'mark\.matrix' tests examples)

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

venv: .venv/ready ## the virtual environment, as constraints.txt says

.venv/ready: pyproject.toml constraints.txt bin/make-venv
	bin/make-venv .venv 3.11 dev
	touch $@

.venv-newest/ready: pyproject.toml constraints.txt bin/make-venv
	bin/make-venv .venv-newest newest test
	touch $@

demo: venv ## the homepage example: two portals, failures that heal, the console, until Ctrl-C
	$(PY) -m examples.homepage

NAME ?= enrichment
example: venv ## make example NAME=enrichment, homepage, photos, planner or yellowbook
	@$(PY) -m examples "$(NAME)"

test: lint test-suite test-matrix ## everything: linters, the suite, the matrix

# Compiled once, not by each of the workers that begin together.
test-suite: venv ## the suite on Python 3.11 and PostgreSQL 18
	$(PY) -m compileall -q src
	$(PY) $(PYTEST)

# Both other ends in one run: what breaks at one of them breaks there, too, and each run is a minute.
test-matrix: venv ## schema, protocols and bindings on PostgreSQL 15 and the newest Python that is here
	@python=$(PY); \
	if bin/find-python newest > /dev/null; then \
	    $(MAKE) --no-print-directory .venv-newest/ready; python=.venv-newest/bin/python; \
	else echo "not run: no Python newer than 3.11 is here; install python3.12 or python3.13"; fi; \
	if [ -x /usr/lib/postgresql/15/bin/postgres ]; then export POSTMILL_TEST_PG=15; \
	else echo "not run: PostgreSQL 15 is not here; apt-get install postgresql-15"; fi; \
	if [ $$python != $(PY) ] || [ -n "$${POSTMILL_TEST_PG:-}" ]; then \
	    echo "matrix: $$($$python --version), PostgreSQL $${POSTMILL_TEST_PG:-18}"; $$python $(PYTEST) $(MATRIX); fi

test-long: venv ## the long fault and soak runs
	$(PY) -m pytest -m long

lint: venv ## ruff, mypy, the import law
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy --num-workers 2
	.venv/bin/lint-imports

format: venv ## let ruff write
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

schema: venv ## src/postmill/sql/schema.sql anew from the migrations
	$(PY) -m tests.support.schema_dump

reference: venv ## docs/reference anew from the code
	$(PY) -m tests.support.reference
	$(PY) -m tests.support.erd

messages: venv ## the console's catalogue of messages anew from its sources
	$(PY) -m tests.support.messages

pictures: venv ## the documentation's pictures of the console, taken anew
	CONSOLE_PICTURES=docs/assets/console $(PY) -m pytest tests/console/test_pictures.py

docs: venv ## the documentation into site/
	$(PY) -m mkdocs build --strict

bench-peers: venv ## Postmill beside its peers on one server
	$(PY) benchmarks/peers/run.py $(ARGS)

clean: ## remove what was made here, but not .postmill (data)
	rm -rf .venv .venv-newest .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis site
