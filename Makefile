# What a developer runs is what CI runs. Each target sets up what it needs.
#
#   make test     the whole test suite, with real editors
#   make demo     an assistant's session with a real Vim, with its screens
#
# PYTHON=python3.12 make ...   picks the interpreter .venv is made with.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RULES := tests/unit/test_imports.py tests/unit/test_house_rules.py

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv vim-alone editors format lint types test e2e demo picture bench chaos clean

help:
	@echo 'make test      run all tests (sets up what is missing)'
	@echo 'make demo      show the main job with a real Vim'
	@echo 'make e2e       run the end-to-end tests alone'
	@echo 'make picture   draw the picture of the README from a real session'
	@echo 'make format    format and mend the Python code'
	@echo 'make lint      ruff, import direction, house rules of Python and Vimscript'
	@echo 'make types     mypy, strict'
	@echo 'make bench     measure latencies through the forwarder'
	@echo 'make chaos     kill and freeze everything for a minute, look for what was lost'
	@echo 'make venv      make .venv; make editors: install the editors; make clean'

# --- what is needed ----------------------------------------------------------

venv: $(READY)

# Installs Debian packages as root or through sudo, else names them and fails.
# A list of packages as old as the image it came with is renewed once.
define apt_install
apt_install() { \
	if ! command -v apt-get >/dev/null; then \
		echo "missing: $$* (names of Debian packages): install them and run make again" >&2; return 1; \
	fi; \
	if [ "$$(id -u)" = 0 ]; then as_root=env; \
	elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || \
		{ [ -t 0 ] && echo "to be installed by sudo apt-get: $$*" && sudo -v; }; }; then as_root="sudo env"; \
	else echo "missing: $$*: run apt-get install $$* as root, then make again" >&2; return 1; fi; \
	echo "installing: $$*"; \
	as_root="$$as_root DEBIAN_FRONTEND=noninteractive"; \
	get="apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install"; \
	$$as_root $$get "$$@" >/dev/null 2>&1 </dev/null || \
		{ $$as_root apt-get -qq update </dev/null && $$as_root $$get "$$@" >/dev/null </dev/null; }; \
}
endef

# Debian keeps what makes an environment apart from python3. One whose Python is
# gone is made anew; after moving the checkout run make clean first.
$(READY): pyproject.toml
	@set -e; $(apt_install); \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo "Python 3.10 or newer is needed, and $(PYTHON) is not: make PYTHON=/path/to/python" >&2; exit 1; }; \
	echo "setting up $(VENV), once"; \
	if command -v uv >/dev/null; then \
		$(BIN)/python -c '' 2>/dev/null || { rm -rf $(VENV); uv venv --quiet --python "$(PYTHON)" $(VENV); }; \
		uv pip install --quiet --python $(BIN)/python --editable '.[dev]'; \
	else \
		$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv; \
		$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV); \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'; \
	fi; \
	touch $@

# The tests drive the packaged editors, unless HARNESS_VIM, HARNESS_NVIM name others.
define find_vim
missing=; found=; \
	for vim in $${HARNESS_VIM:-vim.nox vim.gtk3 vim.basic vim}; do \
		if "$$vim" --version 2>/dev/null </dev/null | grep -q '+channel'; then found=$$vim; break; fi; \
	done; \
	[ -n "$$found" ] || missing="$$missing vim-nox"
endef

# The demo does with a Vim, so it runs for those who may install nothing.
vim-alone:
	@set -e; $(apt_install); $(find_vim); [ -z "$$missing" ] || apt_install $$missing

editors:
	@set -e; $(apt_install); $(find_vim); \
	command -v "$${HARNESS_NVIM:-nvim}" >/dev/null || missing="$$missing neovim"; \
	command -v tmux >/dev/null || missing="$$missing tmux"; \
	command -v git >/dev/null || missing="$$missing git"; \
	[ -z "$$missing" ] || apt_install $$missing

# --- what is done all day ----------------------------------------------------

format: venv
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pytest --numprocesses=0 --quiet $(RULES)

types: venv
	$(BIN)/mypy

test: venv editors
	$(BIN)/pytest

e2e: venv editors
	$(BIN)/pytest tests/e2e

demo: venv vim-alone
	@$(BIN)/python -m harness.demo

# The README's picture, drawn from a real session.
picture: venv vim-alone
	@$(BIN)/python -m harness.demo --svg .github/session.svg >/dev/null

bench: venv editors
	$(BIN)/harness bench

# SEED=7 make chaos   repeats the faults of a run.
chaos: venv editors
	$(BIN)/harness chaos --seconds 60 $(if $(SEED),--seed $(SEED))

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
