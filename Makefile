# Everything sets itself up: `make demo` and `make test` work in a fresh clone. The environment is .venv here.
#   make demo       lint PyBullet's Minitaur: text on the terminal, an HTML report in out/minitaur.html
#   make test       ruff, mypy and the tests
#   make test-long  what takes longer than the loop of a day: the commands of the guides, attacks, large models
#   make test-all   the same with the slow sweeps, the robots of example-robot-data and a browser
#   make test-core  the tests that need no PyBullet, in an environment without it: for every Python
#   make lowest     the core tests with the lowest version of every dependency, in an environment of its own
#   make lint       ruff and mypy only
#   make docs       the documentation site, out/site/index.html
#   make viewer     bundle the script of the HTML report anew (needs npm)
#   make schemas    write the JSON schemas in docs/
#   make rules      write the table of rules, docs/rules.md
#   make fuzz       mutate models for SECONDS (600) with SEED (1) and lint them; then as long models and
#                   command lines made from a grammar; what fails is in out/fuzz
#   make second-opinion  ask Pinocchio, MuJoCo, Exudyn and fine time steps about random mechanisms, once a
#                   week; programs that are not installed have a row that says so
#   make bench      the benchmarks
#   make clean      remove what make made
# PYTHON=… chooses the interpreter of a new .venv: one that is there is used until make clean.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# what PyBullet's models are needed for has another robot without them
SCENE = assets/$(if $(wildcard $(VENV)/lib/python3.*/site-packages/pybullet_data),minitaur,four_bar).scene.toml
PAGE_OF_DEMO = out/$(notdir $(SCENE:.scene.toml=))
PYTHONS := $(or $(PYTHON),python3.11 python3.10 python3 python3.12 python3.13 python3.14)

define make_venv
made=; for python in $(PYTHONS); do \
  $$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue; \
  echo "Making $(1) with $$($$python --version) …"; \
  $$python -m venv --clear $(1) && made=1 && break; \
done; \
[ $$made ] || { echo "No Python 3.10 or later with venv and pip was found (tried $(PYTHONS)): install Python 3.11, on Debian and Ubuntu python3-venv too."; exit 1; }
endef

# another environment or a user's settings must not leak into this one
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE PIP_USER PIP_TARGET

# what tests need besides their own packages; an extra cannot name others without a circle
OF_TESTS := docs,view,xlsx,zones,frames

.PHONY: demo test test-core test-long test-all lowest browser lint docs viewer schemas rules fuzz bench second-opinion clean
.DEFAULT_GOAL := demo

demo: $(VENV)/core.stamp
	@mkdir -p out
	@$(BIN)/python -c 'import pybullet_data' 2>/dev/null || { \
	  echo "The Minitaur comes with PyBullet, which has no wheel for this Python: another robot for the demo,"; \
	  echo "or make clean, and make demo PYTHON=python3.11."; echo; }
	@$(BIN)/mbplugin lint $(SCENE) || [ $$? -eq 1 ]
	@$(BIN)/mbplugin lint $(SCENE) --report json=$(PAGE_OF_DEMO).json --output-format html --output $(PAGE_OF_DEMO).html || [ $$? -eq 1 ]
	@echo
	@echo "The same for programs: $(PAGE_OF_DEMO).json"
	@echo "The same as one HTML page, with the robot in 3D: $(PAGE_OF_DEMO).html"

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not long and not slow and not robots"

test-long: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "long and not slow and not robots"

test-all: browser $(VENV)/all.stamp lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

CORE_ONLY := out/core

test-core:
	@mkdir -p out
	@$(call make_venv,$(CORE_ONLY))
	@echo "Installing what the tests need into $(CORE_ONLY) …"
	@$(CORE_ONLY)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,$(OF_TESTS),mjcf]'
	@$(CORE_ONLY)/bin/python -m pip uninstall --quiet --yes pybullet
	$(CORE_ONLY)/bin/python -m pytest -n 2 --dist worksteal -m "not bullet and not long and not slow and not robots"

LOWEST := out/lowest
CORE := $(patsubst %,tests/%.py,cli/test_cli readers/test_urdf readers/test_sdf readers/test_mjcf readers/test_scene_toml analysis/test_oracles \
  constraints/test_matrix joint_reactions/test_reactions_statics joint_reactions/test_many_loops analysis/test_large_remedies \
  simulation/test_simulate_report stopping/test_stop_commands stopping/test_sweep_command safety/test_attack_meshes)

# what the dependencies depend on is as new as pip takes it today
lowest: $(BIN)/python
	@mkdir -p out
	@$(BIN)/python -m venv --clear $(LOWEST)
	@echo "Installing the lowest versions into $(LOWEST) …"
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check 'tomli; python_version < "3.11"'
	@$(LOWEST)/bin/python tests/support/lowest.py > out/lowest.txt
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint out/lowest.txt \
	  -e '.[mjcf,yaml,xacro,sweep,plot]' pytest hypothesis jsonschema
	$(LOWEST)/bin/python -m pytest $(CORE)

browser:
	@command -v chromium >/dev/null && command -v Xvfb >/dev/null || \
	  { echo "test-all opens pages in a browser and windows on a display of its own: apt-get install chromium xvfb"; exit 1; }

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

schemas: $(VENV)/core.stamp
	@mkdir -p docs
	@for document in $$($(BIN)/python -c "from mbplugin.report.documents import DOCUMENTS; print(*DOCUMENTS)"); do \
	  $(BIN)/mbplugin schema $$document --output docs/$$document.schema.json || exit; \
	done

rules: $(VENV)/test.stamp
	@mkdir -p out
	@cd tests && PYTHONPATH=$(CURDIR):support:. ../$(BIN)/python -P linter/test_rules.py > ../out/rules.md && mv ../out/rules.md ../docs/rules.md

docs: $(VENV)/test.stamp
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "out/site/index.html"

PAGE := mbplugin/report/html
ESBUILD := npx esbuild --bundle --minify --format=iife --target=es2022 --legal-comments=none --log-level=warning

# the bundle carries the licence of what is in it, and so does every page
viewer:
	@command -v npm >/dev/null || { echo "The viewer is bundled by npm: apt-get install npm"; exit 1; }
	@rm -rf out/viewer && mkdir -p out && cp -r $(PAGE)/viewer out/viewer
	@cd out/viewer && npm ci --silent --no-audit --no-fund && $(ESBUILD) main.js --outfile=bundle.js
	@cd out/viewer && { \
	  echo "/* three.js $$(node -p 'require("./node_modules/three/package.json").version'), bundled with viewer/main.js of mbplugin."; \
	  echo; cat node_modules/three/LICENSE; echo "*/"; cat bundle.js; } > viewer.min.js
	@cd $(PAGE)/viewer && echo "/* made of $$(LC_ALL=C; cat *.js package-lock.json | sha256sum | cut -c 1-64) */" >> ../../../../out/viewer/viewer.min.js
	@mv out/viewer/viewer.min.js $(PAGE) && rm -rf out/viewer
	@echo "$(PAGE)/viewer.min.js"

SECONDS := 600
SEED := 1

fuzz: $(VENV)/test.stamp
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED)
	$(BIN)/python -m tests.fuzz --structured --seconds $(SECONDS) --seed $(SEED)

second-opinion: $(VENV)/test.stamp
	$(BIN)/python tests/support/second_opinions.py

bench: $(VENV)/test.stamp
	@for script in benchmarks/[!_]*.py; do $(BIN)/python $$script || exit; done

clean:
	rm -rf $(VENV) out build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/core.stamp: $(BIN)/python pyproject.toml
	@echo "Installing mbplugin into $(VENV) …"
	@$(PIP) -e .
	@touch $@

$(VENV)/test.stamp: $(VENV)/core.stamp
	@echo "Installing what the tests need …"
	@$(PIP) -e '.[test,$(OF_TESTS),mjcf,usd]'
	@touch $@

$(VENV)/all.stamp: $(VENV)/test.stamp
	@echo "Installing the big extras …"
	@$(PIP) -e '.[test,$(OF_TESTS),mjcf,usd,robots,xacro,ray,browser,pinocchio,validator]' yourdfpy urchin catkin_pkg
	@touch $@

# PyBullet has wheels for 3.10 and 3.11; on later ones it is the extra bullet, and what needs it is skipped
$(BIN)/python:
	@$(call make_venv,$(VENV))
