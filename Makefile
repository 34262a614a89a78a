# Everything here works in a fresh clone: the first target that needs it makes .venv and finds Java.
ARGS   ?=
SEEDS  ?= 10000
ROUNDS ?= 200
OPERATIONS ?= 200000
BODIES ?= 1000000

on_java = JAVA_HOME="$$(cat .venv/java-home)"

.DEFAULT_GOAL := help
.PHONY: help demo test everything cluster referee sql lint format docs bench sim mutants linear chaos fuzz contracts console versions clean setup tutorials site

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: setup ## See the catalog ratify commits of a small lake, in a minute
	@$(on_java) .venv/bin/headgate demo $(ARGS)

test: setup ## Run the test suite in its short form, lint included (ARGS="-k merge -x" to narrow it)
	@$(on_java) scripts/run-tests $(ARGS)

everything: setup ## Run the whole suite, with every parameter of every test
	@$(on_java) scripts/run-tests --everything

cluster: setup ## Run the tests of a Spark cluster with two workers, some of which are killed, and long ones of Connect
	@$(on_java) HEADGATE_TESTS_ON_CLUSTER=1 .venv/bin/python -m pytest tests/spark/cluster $(ARGS)
	@$(on_java) HEADGATE_TESTS_ON_CLUSTER=1 .venv/bin/python -m pytest tests/spark/test_operations.py $(ARGS)
	@$(on_java) HEADGATE_TESTS_ON_CLUSTER=1 HEADGATE_TESTS_ON_CONNECT=1 .venv/bin/python -m pytest tests/spark/connect/test_killed* tests/spark/connect/test_operations* tests/spark/connect/test_streaming* $(ARGS)

referee: setup ## Have Delta Spark judge every feature: tables that both engines write by turns
	@$(on_java) HEADGATE_TESTS_REFEREE=1 .venv/bin/python -m pytest tests/interop/test_delta_spark.py tests/interop/test_delta_api.py tests/interop/test_referee.py tests/interop/test_random_histories.py $(ARGS)

sql: setup ## Run every SQL statement of the bank on classic Spark, on Spark Connect and on Delta Spark
	@$(on_java) .venv/bin/python -m pytest tests/sql $(ARGS)
	@$(on_java) HEADGATE_TESTS_SQL=1 HEADGATE_TESTS_ON_CONNECT=1 .venv/bin/python -m pytest tests/spark/connect/test_statements_on_connect.py $(ARGS)
	@$(on_java) HEADGATE_TESTS_SQL=1 .venv/bin/python -m pytest tests/interop/test_statements_on_delta.py $(ARGS)

lint: setup ## Check style, format, types and layers
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports

format: setup ## Format the code and fix what ruff can fix
	@.venv/bin/ruff check --fix-only .
	@.venv/bin/ruff format .

docs: setup ## Write the generated tables of docs/reference
	@.venv/bin/python docs/generate.py

site: setup ## Build the docs as a site, in site/; every warning is an error
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet --clean
	@echo "open site/index.html"

bench: setup ## Measure commits, loads and scans
	@$(on_java) .venv/bin/python -m benchmarks $(ARGS)

sim: setup ## Play seeded races, crashes and lost replies (SEEDS=10000)
	@.venv/bin/python -m tests.simulation --seeds $(SEEDS) $(ARGS)

mutants: setup ## Change the code in small ways, each of which a test must notice (ARGS="protocol.rebase")
	@.venv/bin/python -m tests.mutation $(ARGS)

linear: setup ## Check that histories of many processes with faults are linearizable (OPERATIONS=200000)
	@.venv/bin/python -m tests.linear --operations $(OPERATIONS) $(ARGS)

chaos: setup ## Kill writers in mid-commit, over and over (ROUNDS=200)
	@$(on_java) HEADGATE_CHAOS_ROUNDS=$(ROUNDS) .venv/bin/python -m tests.chaos $(ARGS)

fuzz: setup ## Send spoiled bodies to every route of a server (BODIES=1000000)
	@.venv/bin/python -m tests.fuzz --bodies $(BODIES) $(ARGS)

contracts: setup ## Ask every contract of every catalog: both databases, and HTTP over each
	@$(on_java) HEADGATE_TESTS_EVERYWHERE=1 .venv/bin/python -m pytest tests/contract $(ARGS)

console: setup ## Look at the console in a browser, with a million files and the demo's lake too, and take its pictures
	@HEADGATE_TESTS_CONSOLE_SCALE=1 .venv/bin/python -m pytest tests/unit/server/console/test_many.py $(ARGS)
	@$(on_java) HEADGATE_TESTS_CONSOLE_SCALE=1 HEADGATE_TESTS_WRITE_SCREENSHOTS=1 .venv/bin/python -m pytest tests/browser $(ARGS)

tutorials: setup ## Follow every tutorial as typed, in an empty folder with the wheel, everything installed anew
	@$(on_java) HEADGATE_TESTS_TUTORIALS=fresh .venv/bin/python -m pytest tests/docs/test_tutorials.py $(ARGS)

versions: setup ## Run the Spark tests on every supported version of Spark
	@$(on_java) scripts/spark-versions $(ARGS)

clean: ## Remove caches and build output (.venv and lake stay)
	@rm -rf artifacts build dist site derby.log metastore_db spark-warehouse
	@rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

setup:
	@scripts/bootstrap
