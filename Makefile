# Two commands: `make site` and `make test`. Both do all their set-up; `make help` lists the rest.
# Written for GNU make 3.81 (macOS) and newer.

SHELL = /bin/sh
BIN = .venv/bin
ARGS =# more options for pytest: make test ARGS="-k anchors -n 0"

# Kernels never look for an accelerator, and Material's end-of-life banner is known.
export JAX_PLATFORMS = cpu
export NO_MKDOCS_2_WARNING = 1

# jax is imported by hundreds of processes, each of which would compile it again where Python may not keep the result.
unexport PYTHONDONTWRITEBYTECODE

# A build of one commit gives one set of bytes: dates come from the commit.
ifndef SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null)
endif
ifneq ($(SOURCE_DATE_EPOCH),)
export SOURCE_DATE_EPOCH
endif

.DEFAULT_GOAL = help
.PHONY: help site serve test check fmt lock clean setup-site setup-test programs

help: ## list the commands
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1 /p' Makefile | awk '{ name = $$1; sub(/^[^ ]* /, ""); printf "make %-8s%s\n", name, $$0 }'

site: setup-site ## build the site: build/site/index.html
	@$(BIN)/track build

serve: setup-site ## show the site on this machine and follow every change
	@$(BIN)/track serve

# Two workers, as CI has two cores; a file's tests share what they build. What is timed runs by itself, after the rest.
test: setup-test programs ## run all tests
	@$(BIN)/track sync --history
	@$(BIN)/track evidence run
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m "not alone" $(ARGS)
	@$(BIN)/python -m pytest -m alone

CHECKS = check-format check-lint check-types check-layers check-spelling check-dependencies check-workflows
.PHONY: $(CHECKS)

# All of them, two at a time, each with its output in one piece where make can do that.
check: setup-test ## format, lint, types, import layers, spelling, dependencies, workflows
	@$(MAKE) --no-print-directory -k -j2 $(if $(filter output-sync,$(.FEATURES)),-O) $(CHECKS)
	@echo "check: $(words $(CHECKS)) checks passed"

check-format:
	@$(BIN)/ruff format --quiet --check --diff .
check-lint:
	@$(BIN)/ruff check --quiet .
check-types:
	@out=$$($(BIN)/basedpyright) || { printf '%s\n' "$$out"; exit 1; }
check-layers:
	@out=$$($(BIN)/lint-imports --no-cache) || { printf '%s\n' "$$out"; exit 1; }
check-spelling:
	@$(BIN)/codespell
check-dependencies:
	@out=$$($(BIN)/deptry . 2>&1) || { printf '%s\n' "$$out"; exit 1; }
check-workflows:
	@$(BIN)/zizmor --offline --quiet .github/workflows

fmt: setup-test ## format the code and fix what lint can fix
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

# Versions stay unless a .in file asks for others; UPGRADE=--upgrade takes the newest.
UPGRADE =
COMPILE = $(BIN)/uv pip compile --quiet $(UPGRADE) --universal --python-version 3.12 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock"
lock: setup-test ## resolve requirements/*.in again, with hashes
	@$(COMPILE) requirements/site.in --output-file requirements/site.txt
	@$(COMPILE) requirements/test.in --output-file requirements/test.txt --constraints requirements/site.txt

clean: ## remove everything that was made
	@rm -rf build .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache tools/*.egg-info

setup-site:
	@tools/setup.sh site
setup-test:
	@tools/setup.sh test

# The browsers, Java, Node and packages that tests drive; what cannot be had is said, and its tests are skipped.
programs:
	@tools/programs.sh
