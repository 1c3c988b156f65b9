# Two commands do everything on a fresh machine: `make ask` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TREE := build/tree/nl2net
MAPPED := prompts sandbox graphs golden tui
# Extras that run on this machine without root, containers or a GPU.
EXTRAS ?= dev,formats,local,flows,incident,k8s,mcp,notebook,web,train,onnx
# Tests with deadlines (cancelling, killed holders) may miss them beside another worker: what fails is run again alone, and
# fails for good if it fails there too.
PYTEST = $(BIN)/python -m pytest --ignore=tests/performance tests

.PHONY: help setup ask test lint types contracts bench docs clean tree
help:  ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

setup: $(STAMP)  ## Make the environment with every extra that runs here

$(STAMP): pyproject.toml .ci/constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c .ci/constraints.txt -e '.[$(EXTRAS)]'
	touch $@

ask: setup  ## Ask a sample question of a shipped network with the built-in model
	$(BIN)/nl2net model pull builtin
	$(BIN)/nl2net model pull embedder
	$(BIN)/nl2net ask "Which links would split the network if they failed?" --graph geant2012 --model builtin

# Type checker and import contracts follow files, not import hooks: show them the package as it is installed.
# Links for mypy, so that its messages and cache follow the sources; copies for import-linter, which skips links.
tree:
	@rm -rf build/tree && mkdir -p $(TREE)
	@for item in nl2net/*; do ln -s "$(CURDIR)/$$item" $(TREE)/; done
	@for item in $(MAPPED); do ln -s "$(CURDIR)/$$item" $(TREE)/; done

lint: setup  ## Style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) types contracts

types: setup tree
	MYPYPATH=build/tree $(BIN)/mypy -p nl2net
	MYPYPATH=build/tree $(BIN)/mypy tests

contracts: setup
	@rm -rf build/contracts && mkdir -p build/contracts && cp -r nl2net build/contracts/ && cp -r $(MAPPED) build/contracts/nl2net/
	cd build/contracts && $(CURDIR)/$(BIN)/lint-imports --no-cache --config ../../pyproject.toml

test: setup lint  ## Run the checks and the tests
	$(PYTEST) -n 2 --dist worksteal || (echo "once more, one at a time:" && $(PYTEST) --last-failed --last-failed-no-failures none)

bench: setup  ## Measure; prints ratios against the alternatives
	$(BIN)/python -m pytest tests/performance --benchmark-only

clean:
	rm -rf build dist *.egg-info
