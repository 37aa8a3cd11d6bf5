# make run      start jaxtutor
# make install  create .venv, with everything for tests and benchmarks
# make test     lint, type-check and test
# make format   format and fix the code with Ruff
# make proofs   all tests, including those too slow for every run
# make rounding  how near rounding comes to the tolerances of all checks: half an hour
# make course   prove the lessons that changed since their proof: about ten minutes each
# make fuzz     fuzz the wire parser for ten minutes
# make attacks  200 hostile submissions alternating with 200 honest ones
# make killed   kill the grader at 50 random moments: nothing may be lost or graded twice
# make killed-app  kill the app at 200 random moments: at most a second of typing may be lost
# make class    grade 1,000 submissions with known verdicts three times: an hour
# make libreoffice  reopen the gradebook in LibreOffice (must be installed) without loss
# make crowd    16 checks of four lessons at once: all must pass
# make newest   the suite on the newest releases and a newer Python: an hour, 6 GB, as root
# make oldest   the suite on the oldest releases that pyproject.toml allows: half an hour
# make bench    measure speed, on answers in unknown styles first: half an hour on two idle cores

PYTHON ?= python3
COMMA  := ,
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/installed
# What is needed to run jaxtutor, without what tests and benchmarks need.
SMALL  := $(VENV)/installed-to-run
# One more than the cores, because tests also wait. Another one gains nothing.
WORKERS := $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
# Pin the build requirements as well.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start hundreds of processes, which would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install run test proofs rounding course attacks killed killed-app class crowd libreoffice newest oldest fuzz bench format clean

install: $(STAMP)

define install
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "jaxtutor needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	@echo "Installing into $(VENV). This takes a minute or two, once."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e '.$(1)'
	# Compile on all cores; pip would on one. Some packages hold files that are not Python 3.11.
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
endef

$(STAMP): pyproject.toml constraints.txt
	$(call install,[test$(COMMA)bench])
	$(BIN)/python -m tutor.pack.schema lessons/schema  # for editors
	touch $(SMALL) $@

$(SMALL): pyproject.toml constraints.txt
	$(call install)
	touch $@

run: $(SMALL)
	$(BIN)/jaxtutor

test: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

proofs: install
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --proofs

rounding: install
	$(BIN)/python -m tests.engine.rounding

course: install
	$(BIN)/jaxtutor pack test lessons --seeds 20 --mutate --variants --unproven

attacks: install
	$(BIN)/python -m tests.attacks.campaign 200

killed: install
	$(BIN)/python -m tests.grading.killed 50

killed-app: install
	$(BIN)/python -m tests.terminal.killed 200

class: install
	$(BIN)/python -m benchmarks.submissions 1000

crowd: install
	$(BIN)/python -m benchmarks.crowd 16

libreoffice: install
	$(BIN)/pytest tests/grading/outputs/libreoffice.py

newest:
	$(PYTHON) -m tests.releases newest

oldest:
	$(PYTHON) -m tests.releases oldest

# A separate environment, because the fuzzer does not support every platform.
fuzz:
	test -x build/fuzz/bin/python || $(PYTHON) -m venv build/fuzz
	build/fuzz/bin/python -m pip install --quiet -c constraints.txt atheris==3.0.0 numpy msgspec ml-dtypes
	mkdir -p build/found
	build/fuzz/bin/python -m tests.fuzz.fuzz_wire -max_total_time=600 -max_len=4096 -timeout=5 \
		-artifact_prefix=build/ build/found tests/fuzz/corpus/wire

# nbgrader's own environment also sees the project's libraries, after its own.
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
