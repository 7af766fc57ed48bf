# SPDX-License-Identifier: Apache-2.0
# make run        sets up, builds, measures every part of this machine and says where the report is
# make check      while writing: unit tests, style and types; two minutes when not much has changed
# make test       sets up, runs every test on one MPI
# make wheel      the wheel with the engine for every MPI, into dist/
# make test-all   the same, and what differs on a second MPI, under the sanitizers and with each file compiled by itself
# The work is done by the small programs in scripts/. PYTHON=... names the interpreter, ULLAGE_SETUP_MPI=auto, site,
# packages or wheel the MPI, CXX=... the compiler,
# WHEELHOUSE=DIR a folder of wheels to install from without a network (docs/howto/offline.md),
# ARGS=... further words for `make run`, as of `ullage run overview`.
.DEFAULT_GOAL := help
.PHONY: help setup run check test test-others test-ci test-all wheel faults causes gpu-check lint format clean distclean

# Where there is none, the message of scripts/find_python.sh is the only one.
python = found="$$(PYTHON='$(PYTHON)' sh scripts/find_python.sh)" && "$$found"
wheelhouse = $(if $(WHEELHOUSE), --wheelhouse '$(WHEELHOUSE)')

help:
	@echo 'make run        sets up, builds, measures every part of this machine in under 5 minutes, says where the report is'
	@echo '                (cores, memory, disk and metadata, messages, network, noise; ARGS=... as of ullage run overview)'
	@echo 'make test       sets up, runs every test on one MPI'
	@echo 'make check      while writing: unit tests, style and types'
	@echo 'make test-all   make test, then the second MPI, sanitizers, types, clang-tidy, each file by itself (alone: make test-others)'
	@echo 'make faults     the table of faults: what happens, what is true afterwards, whether it was; written to docs/faults.md'
	@echo 'make causes     plants causes of slowness one by one (a quota, a throttle, a slow link) and sees whether each is named first'
	@echo 'make gpu-check  runs suite gpu on the GPUs of this machine and writes docs/gpu-measured.md; says so where there is none'
	@echo 'make wheel      builds a wheel with the engine for every MPI, which needs no compiler and no root, into dist/'
	@echo 'make setup      only sets up: .venv/bin/ullage and .venv/bin/ullage-engine'
	@echo 'make lint       style, types and house rules      make format   writes what can be mended by a program'
	@echo 'make clean      removes what was built            make distclean  the environments too'

setup:
	@$(python) scripts/setup.py run$(wheelhouse)

run: setup
	@.venv/bin/ullage run overview --target disk="$$PWD" --target memory=/dev/shm $(ARGS)

check test:
	@$(python) scripts/setup.py test$(wheelhouse)
	@.venv/bin/python scripts/run_tests.py $@

test-others:
	@$(python) scripts/setup.py all$(wheelhouse)
	@.venv/bin/python scripts/run_tests.py others

# What .ci/run has time for of the others: the sanitizers check the engine, but not the code of its tests.
test-ci:
	@$(python) scripts/setup.py ci$(wheelhouse)
	@.venv/bin/python scripts/run_tests.py ci

test-all:
	@$(python) scripts/setup.py all$(wheelhouse)
	@.venv/bin/python scripts/run_tests.py test others

wheel:
	@$(python) scripts/wheel.py

faults:
	@$(python) scripts/setup.py test$(wheelhouse)
	@.venv/bin/python scripts/faults.py

causes:
	@$(python) scripts/setup.py test$(wheelhouse)
	@.venv/bin/python scripts/causes.py

gpu-check: setup
	@.venv/bin/python scripts/gpu_check.py

lint:
	@$(python) scripts/setup.py lint$(wheelhouse)
	@.venv/bin/python scripts/lint.py

format:
	@$(python) scripts/setup.py lint$(wheelhouse)
	@.venv/bin/python scripts/lint.py --mend

clean:
	rm -rf build dist

distclean: clean
	rm -rf .venv .venv-mpich .venv-guests
