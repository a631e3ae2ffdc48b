# Short commands; `make help` lists them. Needs Python 3.10+, a C++ compiler
# and a package index (or CUPY_OVERLAY_SOURCES, see
# install/cupy_overlay/_config.py).

PYTHON ?= python3
VENV ?= .venv
# The official package to build on: cupy-cuda13x or cupy-cuda12x.
BASE ?= cupy-cuda13x
# The extra of other packages for the same CUDA version.
CUDA := $(BASE:cupy-cuda%x=cu%)
# 1, or a site-packages folder: build on the CuPy that is installed there.
FROM_INSTALLED ?=
PYTEST_ARGS ?=

export CUPY_OVERLAY_BASE = $(BASE)
export CUPY_OVERLAY_FROM_INSTALLED = $(FROM_INSTALLED)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

PY := $(VENV)/bin/python
OVERLAY := PYTHONPATH=install $(PY) -m cupy_overlay
HOST := CUPY_DEVICE=host

.DEFAULT_GOAL := help
.PHONY: help wheel develop source-wheel demo dimuon test lint test-upstream fuzz tree \
	clean upstream-patch upstream-check bench gpu-bundle gpu-check

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' \
		$(MAKEFILE_LIST)

# Environments -----------------------------------------------------------------

$(VENV)/.build-requirements: install/cupy_overlay/__init__.py
	@test -x $(PY) || { echo 'making $(VENV)'; $(PYTHON) -m venv $(VENV); }
	@echo 'installing what the build needs'
	@$(OVERLAY) requirements > $@.txt
	@$(PY) -m pip install --quiet --requirement $@.txt
	@touch $@

$(VENV)/.demo-requirements: examples/requirements.txt | $(VENV)/.build-requirements
	@echo 'installing what the examples need'
	@$(PY) -m pip install --quiet --requirement $< \
		'cuda-cccl[$(CUDA)]>=1.2,<2' 'numba-cuda[$(CUDA)]>=0.22,<1'
	@touch $@

$(VENV)/.test-requirements: tests/requirements.txt | $(VENV)/.build-requirements
	@echo 'installing what the tests need'
	@$(PY) -m pip install --quiet --requirement $<
	@touch $@

$(VENV)/.interop-requirements: tests/interop_tests/requirements.txt | $(VENV)/.demo-requirements
	@echo 'installing the array libraries of the tests'
	@$(PY) -m pip install --quiet --requirement $<
	@touch $@

# Building ---------------------------------------------------------------------

wheel: $(VENV)/.build-requirements  ## build dist/*.whl and install it in .venv
	@$(OVERLAY) wheel dist --install

develop: $(VENV)/.build-requirements  ## bring .venv up to date after a change
	@$(OVERLAY) develop

# With a CUDA toolkit, or CUPY_INSTALL_USE_STUB=1 to see whether all of it
# still builds; not installed.
source-wheel: $(VENV)/.build-requirements  ## build all of CuPy from the edited sources
	@$(OVERLAY) source-wheel dist

tree: $(VENV)/.build-requirements  ## make the edited source tree
	@$(OVERLAY) tree

# Using ------------------------------------------------------------------------

demo: wheel $(VENV)/.demo-requirements  ## run the example on the host device
	@$(HOST) $(PY) examples/awkward_sqrt.py

dimuon: wheel $(VENV)/.demo-requirements  ## run a physics analysis on the host device
	@$(HOST) $(PY) examples/dimuon_mass.py 1000000 build/dimuon_mass.png

# Checking ---------------------------------------------------------------------

test: wheel lint $(VENV)/.demo-requirements $(VENV)/.interop-requirements  ## linters and all tests
	@$(HOST) $(PY) -m pytest -m 'not gpu' $(PYTEST_ARGS)

lint: $(VENV)/.test-requirements  ## ruff and mypy
	@$(PY) -m ruff check .
	@$(PY) -m mypy

test-upstream: wheel $(VENV)/.test-requirements  ## CuPy's own tests on the host device
	@$(HOST) $(PY) tests/upstream_tests/run.py

fuzz: wheel $(VENV)/.test-requirements  ## 100,000 random calls on NumPy and CuPy
	@$(HOST) CUPY_FUZZ_EXAMPLES=$${CUPY_FUZZ_EXAMPLES:-100000} $(PY) -m pytest \
		tests/cupy_tests/core_tests/test_ufunc_override_fuzz.py

# Cleaning ---------------------------------------------------------------------

clean:  ## remove .venv, build and dist (downloads stay in the cache)
	rm -rf $(VENV) build dist

# Upstream ---------------------------------------------------------------------

# Another source tree: make upstream-patch UPSTREAM=path/to/cupy
UPSTREAM ?= $(shell $(OVERLAY) fetch | grep tar.gz)

$(VENV)/.patch-requirements: | $(VENV)/.build-requirements
	@$(PY) -m pip install --quiet 'pypandoc_binary>=1.13,<2'
	@touch $@

upstream-patch: $(VENV)/.patch-requirements  ## the hook as patches for CuPy
	@$(PY) tools/upstream_patch.py $(UPSTREAM)

# About 20 minutes, of which the build takes most; it is kept.
upstream-check: wheel upstream-patch  ## whether CuPy with the patches builds and passes
	@$(PY) tools/upstream_check.py $(UPSTREAM)

# Measuring --------------------------------------------------------------------

bench: wheel $(VENV)/.demo-requirements  ## ratios to NumPy and to the unmodified CuPy (see benchmarks/)
	@$(HOST) CUPY_HOST_NUM_THREADS=1 $(PY) benchmarks/throughput.py
	@$(HOST) $(PY) benchmarks/throughput.py
	@$(HOST) $(PY) benchmarks/launch.py
	@$(HOST) $(PY) benchmarks/first_call.py
	@$(HOST) $(PY) benchmarks/numba_ufunc.py
	@$(HOST) $(PY) benchmarks/awkward_operations.py
	@$(HOST) $(PY) benchmarks/dispatch.py

# A GPU without a network ------------------------------------------------------

BUNDLE ?= build/gpu-bundle

gpu-bundle: $(VENV)/.build-requirements  ## what to carry to a GPU machine
	@$(PY) tools/gpu_bundle.py --out $(BUNDLE)

# With the Python that has CuPy, which the fork is built on.
gpu-check:  ## build, test and measure on a GPU machine (BUNDLE=folder)
	@$(PYTHON) tools/gpu_check.py $(BUNDLE)
