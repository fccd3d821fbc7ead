# Every target sets up what it needs; a fresh machine wants Python 3.11 or later and a C++20 compiler.
PYTHON ?= python3
GROUP ?=
VENV := .venv
SOURCES := CMakeLists.txt pyproject.toml $(shell find native -name '*.hpp' -o -name '*.cpp')
PACKAGE := $(shell find src -type f -not -name '*.pyc') docs/differences.md
BUILD_TOOLS := scikit-build-core nanobind cmake ninja
# For this machine only: one instruction-set level, and a build folder of its own so that the next build is incremental.
NATIVE := --config-settings=cmake.define.MERCER_LEVELS=native
PIP := -m pip --disable-pip-version-check --quiet
# An environment that is used once: what it imports is compiled then, which is a small part of what is installed.
INSTALL_ONCE := $(PIP) install --no-compile
OLDEST_PYTHON ?= python3.11
OLDEST_TESTS := tests/test_messages.py tests/test_params.py tests/test_passed_on.py tests/common/test_conduct.py tests/common/test_inputs.py \
	tests/persistence/test_round_trip.py tests/persistence/test_values.py tests/calibration tests/command tests/metrics tests/model_selection \
	tests/plots tests/preprocessing tests/runs
JOBS := $(shell nproc 2>/dev/null || echo 2)
TEST_JOBS := $(shell expr $(JOBS) + 1)  # a third of the time a test waits: for a child, a signal, a screen
comma := ,

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Tests start some hundred processes, each of which would compile what it imports again where nothing is kept.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help build dev demo lint tidy style tests tests-all try test test-all peers peer-tests wheel-check oldest sanitize sanitize-memory sanitize-threads bench clean

help:
	@echo "make demo      compare, tune, test and explain models of an embedded table; the report is demo/report.html"
	@echo "make test      build the wheel, lint, test the wheel, and try it in an empty environment"
	@echo "make test-all  the same with the exhaustive sweeps, beside other packages that explain, and with the oldest versions that are declared"
	@echo "make dev       editable build for this machine; native code is rebuilt when it changed"
	@echo "make bench     compare with the peers (GROUP=cluster for one family, GROUP=command for mercer train beside FLAML)"
	@echo "make sanitize  test the native parts under AddressSanitizer and UBSan, and what uses threads under ThreadSanitizer"
	@echo "make peer-tests  scikit-learn's own tests under mercer.patch_sklearn() (GROUP=svm for one group), with a table of what fails"
	@echo "make tidy      clang-tidy over the native code"

$(VENV)/.tools:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP) install $(BUILD_TOOLS)
	touch $@

# An editable install for this machine, with the packages of an extra. After `make dev` the package rebuilds itself; otherwise a change in
# the native code installs it again.
define install_editable
	test -f $(VENV)/.rebuilds || $(VENV)/bin/python $(PIP) install --no-build-isolation $(NATIVE) --config-settings=build-dir=build/native -e '.[$(1)]'
endef

$(VENV)/.built: $(VENV)/.tools $(SOURCES)
	$(call install_editable,dev)
	touch $@ $(VENV)/.runs

# What the command needs, and none of the tools.
$(VENV)/.runs: $(VENV)/.tools $(SOURCES)
	$(call install_editable,cli)
	touch $@

build: $(VENV)/.built

dev: $(VENV)/.tools
	$(VENV)/bin/python $(PIP) install --no-build-isolation $(NATIVE) --config-settings=build-dir=build/native --config-settings=editable.rebuild=true -e '.[dev]'
	touch $(VENV)/.rebuilds $(VENV)/.built $(VENV)/.runs

demo: $(VENV)/.runs
	rm -rf demo
	$(VENV)/bin/mercer train --time 60s --out demo

# The checks of style, with the tools of one environment.
define check_style
	$(1)/bin/ruff check .
	$(1)/bin/ruff format --check .
	$(1)/bin/clang-format --dry-run --Werror $(filter native/%,$(SOURCES))
	$(1)/bin/mypy
endef

lint: build
	$(call check_style,$(VENV))

tidy: build
	$(VENV)/bin/clang-tidy --quiet -p build/native $(filter %.cpp,$(SOURCES))

# The tests run on a wheel of the level that most machines load, and an empty environment tries it. What other levels make of the
# same source is seen in `wheel-check`.
TEST_LEVEL := $(if $(filter x86_64 amd64,$(shell uname -m)),v3,base)

# Without the flags of make: its jobs are not those of the compiler.
build/wheel/.built: $(VENV)/.tools $(SOURCES) $(PACKAGE)
	rm -rf build/wheel && mkdir -p build/wheel
	MAKEFLAGS= $(VENV)/bin/python $(PIP) wheel --no-deps --no-build-isolation --config-settings=cmake.define.MERCER_LEVELS=$(TEST_LEVEL) \
		--config-settings=build-dir=build/portable --wheel-dir build/wheel .
	touch $@

# What the wheel and its tests ask for: installed while the kernels compile. Without the library no test can be collected, but on the
# way to saying so the tests and what they import before it are compiled: once, which each worker would else do for itself.
build/test/.packages: pyproject.toml
	test -d build/test/env || $(PYTHON) -m venv build/test/env
	$(PYTHON) tests/install/needed.py dev > build/test/requirements.txt
	build/test/env/bin/python $(INSTALL_ONCE) -r build/test/requirements.txt
	build/test/env/bin/python -m pytest -p no:cacheprovider -q --collect-only --tb=no > build/test/compiled.txt 2>&1 || true
	touch $@

build/test/.ready: build/wheel/.built build/test/.packages
	build/test/env/bin/python $(PIP) install --force-reinstall --no-deps build/wheel/mercer-*.whl
	build/test/env/bin/python $(INSTALL_ONCE) "$$(echo build/wheel/mercer-*.whl)[dev]"
	touch $@

define try_wheel
	rm -rf $(1)/env && $(PYTHON) -m venv $(1)/env
	$(1)/env/bin/python $(INSTALL_ONCE) $(1)/mercer-*.whl
	cd $(1) && env/bin/python $(CURDIR)/tests/install/check_wheel.py mercer-*.whl
endef

# The parts of `test`, each with what it waits for. They run side by side, so that packages are fetched while the kernels compile;
# one that fails is the end of all.
style: build/test/.packages
	$(call check_style,build/test/env)

try: build/wheel/.built
	$(call try_wheel,build/wheel)

tests: style build/test/.ready
	build/test/env/bin/python -m pytest -n $(TEST_JOBS) --durations=20 -m "not slow"

tests-all: style build/test/.ready
	build/test/env/bin/python -m pytest -n $(TEST_JOBS) --durations=20

test:
	$(MAKE) --jobs=3 tests try

# Explanations beside those of other packages, and of their models. These bring hundreds of megabytes, and are no part of `dev`.
peers: build/test/.ready
	build/test/env/bin/python $(INSTALL_ONCE) lightgbm lime shap xgboost
	build/test/env/bin/python -m pytest -p no:cacheprovider -q -n $(TEST_JOBS) tests/inspection

# scikit-learn's own tests, as it is installed, on Mercer's classes: a table by groups, and every failure in build/peer-tests.
peer-tests: build/test/.ready
	build/test/env/bin/python -m tests.peers $(GROUP) $(PEER_OPTIONS)

test-all:
	$(MAKE) --jobs=3 tests-all
	$(MAKE) peers
	$(MAKE) wheel-check
	$(MAKE) oldest

# The wheel as a packager builds it: in isolation, with nothing but what pyproject.toml asks for.
wheel-check: $(VENV)/.tools
	rm -rf build/isolated && mkdir -p build/isolated
	$(VENV)/bin/python $(PIP) wheel --no-deps --wheel-dir build/isolated .
	$(call try_wheel,build/isolated)

# Every lower bound in pyproject.toml at once: the wheel beside exactly these versions. The tests are those of what meets other
# packages; the kernels and their formulas are the same for all versions.
oldest: build/wheel/.built
	rm -rf build/oldest && mkdir -p build/oldest
	$(OLDEST_PYTHON) -m venv build/oldest/env
	$(PYTHON) tests/install/oldest.py > build/oldest/requirements.txt
	build/oldest/env/bin/python $(PIP) install -r build/oldest/requirements.txt build/wheel/mercer-*.whl \
		hypothesis pytest pytest-timeout pytest-xdist
	build/oldest/env/bin/python tests/install/oldest.py --check
	build/oldest/env/bin/python -m pytest -p no:cacheprovider -q -n $(TEST_JOBS) -m "not slow" $(OLDEST_TESTS)

# The native parts under two sanitizers, each a build of its own.
sanitize: sanitize-memory sanitize-threads

build/sanitize/env/.ready:
	$(PYTHON) -m venv build/sanitize/env
	build/sanitize/env/bin/python $(PIP) install $(BUILD_TOOLS) numpy scipy scikit-learn \
		pytest pytest-timeout pytest-xdist hypothesis pandas polars statsmodels matplotlib safetensors
	touch $@

# Installs the package compiled with the sanitizers $(1), from the build folder $(2).
define install_sanitized
	PATH="$(CURDIR)/build/sanitize/env/bin:$(PATH)" build/sanitize/env/bin/python $(PIP) install --no-build-isolation --no-deps $(NATIVE) \
		--config-settings=cmake.define.MERCER_SANITIZE=$(1) --config-settings=build-dir=build/sanitize/$(2) --force-reinstall .
endef
library = $$($(or $(CXX),c++) -print-file-name=$(1))
SANITIZED_TESTS := build/sanitize/env/bin/python -m pytest -p no:cacheprovider -q -m "not slow"

# Every folder of tests but those of what has no kernel of its own, or starts processes without the sanitizer, or fits every estimator.
NATIVE_TESTS := $(filter-out $(patsubst %,tests/%/,__pycache__ assessment command common datasets install losses model_selection optim penalties \
	parts patching peers plots reference report runs serving),$(wildcard tests/*/))

sanitize-memory: build/sanitize/env/.ready
	$(call install_sanitized,address$(comma)undefined,memory)
	LD_PRELOAD="$(call library,libasan.so) $(call library,libstdc++.so)" \
	MERCER_SANITIZED=1 ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
		$(SANITIZED_TESTS) -n $(JOBS) $(NATIVE_TESTS)

# One estimator for each way to use threads: chunks of rows, columns, members of an ensemble, nodes of a tree, histograms, classes.
THREADED := KMeans or RandomForestRegressor or HistGradientBoostingClassifier or LogisticRegression or MultiTaskLasso or LinearSVC \
	or SGDClassifier or RobustScaler or RidgeCV or LocallyWeightedRegression or KNeighborsClassifier or HDBSCAN or NuSVR or GaussianMixture \
	or MLPClassifier or BernoulliRBM or VariationalAutoencoder

# These fork a process that has threads, which the sanitizer cannot follow.
FORKING := wakes_only or forked or ctrl_c or signal_handler

# Memory is laid out without chance (setarch -R), since the sanitizer has fixed places for its own; what Python and BLAS do among their
# own threads is theirs.
sanitize-threads: build/sanitize/env/.ready
	$(call install_sanitized,thread,threads)
	LD_PRELOAD="$(call library,libtsan.so) $(call library,libstdc++.so)" MERCER_SANITIZED=1 OPENBLAS_NUM_THREADS=1 \
	TSAN_OPTIONS=ignore_noninstrumented_modules=1:detect_deadlocks=0:die_after_fork=0:halt_on_error=1 \
		setarch -R $(SANITIZED_TESTS) tests/native/test_parallel.py tests/common/test_reliability.py \
			-k "(test_parallel and not ($(FORKING))) or (number_of_threads or sixteen) and ($(THREADED))"

ifeq ($(GROUP),command)
bench: build/bench/.ready build/bench/flaml/.ready
	build/bench/env/bin/python -m benchmarks.command $(BENCH_OPTIONS)
else
bench: build/bench/.ready
	build/bench/env/bin/python -m benchmarks $(if $(GROUP),--group $(GROUP)) $(BENCH_OPTIONS)
endif

build/bench/.ready: $(SOURCES) $(PACKAGE)
	test -d build/bench/env || $(PYTHON) -m venv build/bench/env
	build/bench/env/bin/python $(PIP) install '.[bench]'
	touch $@

# FLAML asks for an older XGBoost than `bench` has. CatBoost is used where it is installed, and is no part of its extra.
build/bench/flaml/.ready:
	test -d build/bench/flaml || $(PYTHON) -m venv build/bench/flaml
	build/bench/flaml/bin/python $(PIP) install 'flaml[automl]>=2.7' pyarrow
	touch $@

clean:
	rm -rf build dist $(VENV) .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
