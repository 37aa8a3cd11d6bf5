# make run     start jaxtutor          make test    everything that must hold
# make install only .venv              make format  let ruff write the code's layout
# make proofs  all tests, with those that take too long for every run
# make seeds   every answer of the course under 20 seeds, and all lessons in waiting sandboxes: an hour
# make fuzz    ten minutes of hostile bytes for the wire parser
# make attacks 200 hostile submissions and 200 honest ones by turns
# make killed  the grader killed at 50 random moments: nothing lost, nothing twice
# make class   1,000 submissions with known labels, graded thrice: an hour
# make libreoffice  that it reopens the gradebook without loss; it must be installed
# make crowd   16 checks at once of four lessons: all pass, and how long that takes
# make bench   how fast it is, against the cold way of doing it: an hour or two of an idle machine

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/installed
# Tests wait as often as they compute.
WORKERS := $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
# Exact versions, for the build's own requirements too.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: install run test proofs seeds attacks killed class crowd libreoffice fuzz bench format clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "jaxtutor needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	@echo "Installing into $(VENV): once, a minute or two."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[test,bench]'
	touch $@

run: install
	$(BIN)/jaxtutor

test: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

proofs: install
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --proofs

seeds: install
	$(BIN)/pytest -n auto --dist worksteal tests/course --seeds 20

attacks: install
	$(BIN)/python -m tests.attacks.campaign 200

killed: install
	$(BIN)/python -m tests.grading.killed 50

class: install
	$(BIN)/python -m benchmarks.submissions 1000

crowd: install
	$(BIN)/python -m benchmarks.crowd 16

libreoffice: install
	$(BIN)/pytest tests/grading/outputs/libreoffice.py

# Beside the project's own environment: the fuzzer is not for every platform.
fuzz:
	test -x build/fuzz/bin/python || $(PYTHON) -m venv build/fuzz
	build/fuzz/bin/python -m pip install --quiet -c constraints.txt atheris==3.0.0 numpy msgspec ml-dtypes
	mkdir -p build/found
	build/fuzz/bin/python -m tests.fuzz.fuzz_wire -max_total_time=600 -max_len=4096 -timeout=5 \
		-artifact_prefix=build/ build/found tests/fuzz/corpus/wire

# nbgrader has an environment of its own, which sees the project's libraries behind its own.
NBGRADER := build/nbgrader/bin/python
bench: install $(NBGRADER)
	NBGRADER_PYTHON=$(CURDIR)/$(NBGRADER) $(BIN)/python -m benchmarks

$(NBGRADER): benchmarks/nbgrader.txt
	$(PYTHON) -m venv build/nbgrader
	PIP_CONSTRAINT= $@ -m pip install --quiet -r benchmarks/nbgrader.txt
	$(BIN)/python -c 'import site; print(site.getsitepackages()[0])' \
		> "$$($@ -c 'import site; print(site.getsitepackages()[0])')/jaxtutor.pth"
	touch $@

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist
