# `make demo` and `make test` need Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .bench-venv
# The peers of the benchmarks; torch first and pinned, so that no package drags a larger build in.
TORCH ?= torch==2.13.0
PEERS ?= prdc==0.2 mauve-text==0.4.0 faiss-cpu sentence-transformers gensim datasketch rensa

# What an installation is made from: after a change of these it is made anew.
BUILD := pyproject.toml

FAST := $(addprefix tests/unit/,stats measure data cli) tests/contract/test_tree.py
DEMO := demo
RESULTS ?= runs
PAPERS := ackerman2023 yamshchikov2020 beyond usmb kour2022 zwerdling2021
TEST_RESOURCES := minilm minilm-int8 wordllama paraphrase-minilm wordnet pos-en bge-small-int8 ms-marco-int8

.PHONY: bench-scale demo test test-fast test-slow test-lowest check quality mutation wheel bench results results-time docs clean

demo: $(VENV)/.core ## compare corpora, put metrics to the test on built-in data, describe a generated corpus, write a report
	@mkdir -p $(DEMO)
	@printf '\n1. Fetch models and word lists, once\n\n'
	$(BIN)/textgauge resources fetch minilm wordllama wordnet
	@printf '\n2. Compare two corpora, by sixteen metrics with intervals and tests\n\n'
	$(BIN)/textgauge compare sample:banking sample:travel --limit 300 --ci --explain --top 3 -o $(DEMO)/compare.json \
	  -m energy,mmd,mauve,fid,pr,dc,irpr,ahd,chi,cbdf,zipf,jsd,classifier,medoid,ttest,sliced_wasserstein
	@printf '\n3. Put metrics to the test: mixtures, size, paraphrases, ratings, five tasks\n\n'
	$(BIN)/textgauge run quick -j 2 --out $(DEMO)/run
	@printf '\n4. Describe texts that were made from 400 others, beside 200 real ones that were held out\n\n'
	@$(BIN)/textgauge datasets show sample:banking -n 600 -f csv > $(DEMO)/texts.csv
	@head -401 $(DEMO)/texts.csv > $(DEMO)/train.csv
	@(head -1 $(DEMO)/texts.csv; tail -200 $(DEMO)/texts.csv) > $(DEMO)/test.csv
	$(BIN)/textgauge generate eda $(DEMO)/train.csv --column text -n 200 -o $(DEMO)/eda.csv
	$(BIN)/textgauge describe $(DEMO)/eda.csv --train $(DEMO)/train.csv --test $(DEMO)/test.csv --column text \
	  -o $(DEMO)/describe.json --explain
	@printf '\n5. Write all of it on one page\n\n'
	$(BIN)/textgauge report $(DEMO)/compare.json $(DEMO)/describe.json $(DEMO)/run \
	  -o $(DEMO)/report.html --title "textgauge: a first look"

test: $(VENV)/.dev ## run the tests
	$(BIN)/textgauge resources fetch $(TEST_RESOURCES)
	$(BIN)/python -m pytest -q -n auto --dist worksteal

test-fast: $(VENV)/.dev ## the unit tests that need no models
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m 'not slow and not long' $(FAST)

test-slow: $(VENV)/.dev ## run the simulations and full-size checks
	$(BIN)/python -m pytest -q -m slow

check: $(VENV)/.dev ## style, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

quality: $(VENV)/.dev $(VENV)/.docs ## security of code and dependencies, spelling, links and the site, branch coverage
	$(BIN)/python -m pip install -q -e '.[quality]'
	$(BIN)/bandit -q -ll -r src -x src/textgauge/testing
	$(BIN)/codespell README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs src examples
	$(BIN)/python -m benchmarks.audit
	$(MAKE) docs
	$(BIN)/textgauge resources fetch $(TEST_RESOURCES)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -n auto --dist worksteal
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --skip-covered --fail-under=90
	$(BIN)/coverage report --include='src/textgauge/stats/*,src/textgauge/bench/protocols/*' --show-missing --fail-under=100

SHARE ?= 1.0
SEED ?= 0
mutation: $(VENV)/.dev ## change the code in small ways and see whether the tests notice; SHARE=0.1 tries a tenth
	$(BIN)/python -m pip install -q -e '.[quality]'
	$(BIN)/python -m benchmarks.mutation $(SHARE) $(SEED)
	$(BIN)/python -m benchmarks.reliability

wheel: ## source archive and the wheel, checked, and a list of what is installed with it (SBOM)
	rm -rf dist && $(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/python -m pip install -q build twine check-wheel-contents
	build/wheel-venv/bin/python -m build
	build/wheel-venv/bin/twine check --strict dist/*
	build/wheel-venv/bin/check-wheel-contents --toplevel textgauge,textgauge_papers dist/*.whl
	rm -rf build/unpacked && for wheel in dist/*.whl; do build/wheel-venv/bin/python -m zipfile -e $$wheel build/unpacked/$$wheel; done
	@! grep -rlF -e '$(CURDIR)' -e "$$($(PYTHON) -c 'import sys; print(sys.base_prefix)')/lib" build/unpacked || (echo "a wheel holds paths of this machine" && exit 1)
	@ls dist/*-none-any.whl
	rm -rf build/sbom-venv && $(PYTHON) -m venv build/sbom-venv && build/sbom-venv/bin/python -m pip install -q dist/*.whl
	build/wheel-venv/bin/python -m pip install -q cyclonedx-bom
	find build/sbom-venv -name direct_url.json -delete  # it has a path of this machine
	build/wheel-venv/bin/cyclonedx-py environment --output-reproducible -o build/textgauge.cdx.json build/sbom-venv/bin/python

# Every lower bound of pyproject.toml as the version that is installed, those of the extras that tests use too. What these versions
# import from newer packages may be deprecated there.
LOWEST_EXTRAS := api,dask,elmo,pandas,excel,zstd
LOWEST := import re, tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  names = [*p["dependencies"], *(name for extra in "$(LOWEST_EXTRAS)".split(",") for name in p["optional-dependencies"][extra])]; \
  print(*(re.sub(r">=([^,;]+)[^;]*", r"==\1", name, count=1) for name in names), sep="\n")
test-lowest: ## run the tests on the lowest versions that are allowed
	$(PYTHON) -m venv build/lowest-venv
	$(PYTHON) -c '$(LOWEST)' > build/lowest.txt
	build/lowest-venv/bin/python -m pip install -q -c build/lowest.txt -e '.[dev,$(LOWEST_EXTRAS)]'
	build/lowest-venv/bin/textgauge resources fetch $(TEST_RESOURCES)
	build/lowest-venv/bin/python -m pytest -q -n auto --dist worksteal -W ignore::DeprecationWarning

docs: $(VENV)/.docs ## build the site of the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(BENCH)/.done ## speed against the peers, in one run
	$(BENCH)/bin/textgauge resources fetch minilm wordnet
	$(BENCH)/bin/python -m benchmarks

bench-scale: $(VENV)/.dev ## corpora of a million texts: CPU time and memory; some 10 GB of disk
	for job in texts arrays pairs growth; do $(BIN)/python -m benchmarks.scale $$job || exit 1; done

$(VENV)/.venv:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || (echo "Python 3.11 or newer is needed; set PYTHON=..." && exit 1)
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.venv $(BUILD)
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.venv $(BUILD)
	$(BIN)/python -m pip install -q -e '.[dev,api,elmo,dask]'
	@touch $@

$(VENV)/.docs: $(VENV)/.venv $(BUILD)
	$(BIN)/python -m pip install -q -e '.[docs]'
	@touch $@

$(BENCH)/.done: $(BUILD)
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install -q $(TORCH)
	$(BENCH)/bin/python -m pip install -q -e '.[oracles]' $(PEERS)
	@touch $@

results: results-time $(PAPERS:%=results-%) ## check what the papers find and write docs/results/; resumes, says what it takes, needs TEXTGAUGE_DATA
	$(BIN)/textgauge report $(PAPERS:%=$(RESULTS)/%.json) -o $(RESULTS)/ledgers.html --title "Five papers, finding by finding"

results-time: $(RESULTS)/.generate
	@$(BIN)/python -c 'from textgauge_papers import PAPERS; hours = sum(one.minutes for one in PAPERS.values()) / 60; \
	  print(f"Where nothing is there yet: {hours:.0f} hours of one core, and 8 more for the fine-tuning of kour2022")'

results-%: $(RESULTS)/.generate ## one paper: make results-usmb
	$(BIN)/textgauge reproduce $* --out $(RESULTS)/$* --figures $(RESULTS)/figures/$* --format json > $(RESULTS)/$*.json
	$(BIN)/python -m benchmarks.ledgers $(RESULTS)/$*.json docs

results-kour2022: $(RESULTS)/.generate
	$(BIN)/textgauge run kour2022-ifc -p studies=huffpost_headlines,banking77 --out $(RESULTS)/kour2022
	$(BIN)/textgauge reproduce kour2022 --out $(RESULTS)/kour2022 --figures $(RESULTS)/figures/kour2022 --format json > $(RESULTS)/kour2022.json
	$(BIN)/textgauge reproduce kour2022 --kept --tables --out $(RESULTS)/kour2022 --format json > $(RESULTS)/kour2022-table3.json
	$(BIN)/python -m benchmarks.ledgers $(RESULTS)/kour2022.json $(RESULTS)/kour2022-table3.json docs

$(RESULTS)/.generate: $(VENV)/.core
	@mkdir -p $(RESULTS)
	$(BIN)/python -m pip install -q $(TORCH) -e '.[generate]'
	$(BIN)/textgauge resources fetch smollm2
	@touch $@

clean:
	rm -rf $(VENV) $(BENCH) $(DEMO) site dist build src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage* mutants
