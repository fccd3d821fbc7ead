# Every target sets up what it needs; a fresh machine wants Python 3.11 or later and a C++20 compiler.
PYTHON ?= python3
GROUP ?=
VENV := .venv
SOURCES := CMakeLists.txt pyproject.toml $(shell find native -name '*.hpp' -o -name '*.cpp')
BUILD_TOOLS := scikit-build-core nanobind cmake ninja
# For this machine only: one instruction-set level, and a build folder of its own so that the next build is incremental.
NATIVE := --config-settings=cmake.define.MERCER_LEVELS=native
PIP := -m pip --disable-pip-version-check --quiet
JOBS := $(shell nproc 2>/dev/null || echo 2)

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.PHONY: help build dev demo lint tidy test test-all wheel-check sanitize bench clean

help:
	@echo "make demo      compare, tune, test and explain models of an embedded table; the report is demo/report.html"
	@echo "make test      lint, build and test; then build the wheel and try it in an empty environment"
	@echo "make test-all  the same with the exhaustive sweeps"
	@echo "make dev       editable build for this machine; native code is rebuilt when it changed"
	@echo "make bench     compare with the peers (GROUP=cluster for one family)"
	@echo "make sanitize  test the native parts under AddressSanitizer and UBSan"
	@echo "make tidy      clang-tidy over the native code"

$(VENV)/.tools:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP) install $(BUILD_TOOLS)
	touch $@

# After `make dev` the package rebuilds itself; otherwise a change in the native code installs it again.
$(VENV)/.built: $(VENV)/.tools $(SOURCES)
	test -f $(VENV)/.rebuilds || $(VENV)/bin/python $(PIP) install --no-build-isolation $(NATIVE) --config-settings=build-dir=build/native -e '.[dev]'
	touch $@

build: $(VENV)/.built

dev: $(VENV)/.tools
	$(VENV)/bin/python $(PIP) install --no-build-isolation $(NATIVE) --config-settings=build-dir=build/native --config-settings=editable.rebuild=true -e '.[dev]'
	touch $(VENV)/.rebuilds $(VENV)/.built

demo: build
	rm -rf demo
	$(VENV)/bin/mercer train --time 60s --out demo

lint: build
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/clang-format --dry-run --Werror $(filter native/%,$(SOURCES))
	$(VENV)/bin/mypy

tidy: build
	$(VENV)/bin/clang-tidy --quiet -p build/native $(filter %.cpp,$(SOURCES))

test: lint
	$(VENV)/bin/python -m pytest -n $(JOBS) -m "not slow"
	$(MAKE) wheel-check

test-all: lint
	$(VENV)/bin/python -m pytest -n $(JOBS)
	$(MAKE) wheel-check

# What a user installs: the portable wheel, built in isolation, in an empty environment, every variant that runs here.
wheel-check: $(VENV)/.tools
	rm -rf build/wheel && mkdir -p build/wheel
	$(VENV)/bin/python $(PIP) wheel --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/wheel/env
	build/wheel/env/bin/python $(PIP) install build/wheel/mercer-*.whl
	cd build/wheel && env/bin/python ../../tests/install/check_wheel.py mercer-*.whl

sanitize:
	$(PYTHON) -m venv build/sanitize/env
	build/sanitize/env/bin/python $(PIP) install $(BUILD_TOOLS) numpy scipy scikit-learn \
		pytest pytest-timeout pytest-xdist hypothesis pandas polars statsmodels matplotlib safetensors
	PATH="$(CURDIR)/build/sanitize/env/bin:$(PATH)" build/sanitize/env/bin/python $(PIP) install --no-build-isolation --no-deps $(NATIVE) \
		--config-settings=cmake.define.MERCER_SANITIZE=ON --config-settings=build-dir=build/sanitize/native .
	LD_PRELOAD="$$($(or $(CXX),c++) -print-file-name=libasan.so) $$($(or $(CXX),c++) -print-file-name=libstdc++.so)" \
	MERCER_SANITIZED=1 ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
		build/sanitize/env/bin/python -m pytest -p no:cacheprovider -q -n $(JOBS) -m "not slow" \
			tests/native tests/calibration tests/cluster tests/ensemble tests/linear_model tests/metrics tests/persistence tests/preprocessing tests/solvers \
			tests/svm tests/tree

bench: build/bench/.ready
	build/bench/env/bin/python -m benchmarks $(if $(GROUP),--group $(GROUP)) $(BENCH_OPTIONS)

build/bench/.ready: $(SOURCES) $(shell find src -name '*.py')
	test -d build/bench/env || $(PYTHON) -m venv build/bench/env
	build/bench/env/bin/python $(PIP) install '.[bench]'
	touch $@

clean:
	rm -rf build dist $(VENV) .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
