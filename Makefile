# Every target installs or builds what it needs (.ci/setup) and says what it could not have.
# make help lists them.

SHELL := /bin/bash
TARGET ?= node
TIME ?= 60s
OUT ?= out
SEED ?=
HIGHWATER := target/release/highwater
RUN_OPTIONS := --target $(TARGET) --time $(TIME) --out $(OUT) $(if $(SEED),--seed $(SEED))
SEEDS ?=
QUICK ?=
READER ?= jsonl
SECONDS ?= 600
COMPARE_OPTIONS := --target $(TARGET) --out $(OUT) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(QUICK),--quick)

.DEFAULT_GOAL := help
.PHONY: help check compare test build fmt lint deny doc clean bench mutants fuzz

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
	@echo
	@echo 'Variables: SEED= (a number; default: drawn and printed), TIME=60s (how long faults last, at least 12s),'
	@echo '           TARGET=node (highwater list targets), OUT=out (where run folders go)'
	@echo '           of compare: SEEDS=1..5, QUICK=1 (three seeds, a few minutes)'

check: build ## chaos on three of our nodes, a verdict and report.html; fails unless it is valid
	@$(HIGHWATER) run $(RUN_OPTIONS)

compare: build ## what each choice of acks, min ISR, unclean election and flush costs and loses
	@$(HIGHWATER) compare $(COMPARE_OPTIONS)

test: ## all that the gate tests; ends with `N passed, N failed`
	@.ci/setup
	@python3 .ci/stages.py

build: ## the release binaries (highwater, highwater-node, highwater-check, highwater-convert) and the shim
	@.ci/setup rust
	@cargo build --quiet --release -p highwater-node -p highwater-checker -p highwater-harness -p highwater-shim

mutants: build ## each planted bug against its schedule: caught or missed, by which claim
	@.ci/mutants

fuzz: ## one reader of the checker under libFuzzer: READER=jsonl SECONDS=600 (docs/contributing.md)
	@.ci/setup rust
	@.ci/fuzz $(READER) $(SECONDS)

bench: build ## every figure of docs/performance.md; the node beside Apache Kafka as ratios
	@.ci/setup python kafka clients
	@BROKER_BINARY=$$PWD/target/release/highwater-node KAFKA_CLASSPATH="$$PWD/target/kafka/4.3.1/*" \
	  KAFKA_CLIENTS_JAR=$$PWD/target/kafka/4.3.1/kafka-clients-4.3.1.jar \
	  target/venv/bin/python node/bench/bench.py
	@BROKER_BINARY=$$PWD/target/release/highwater-node target/venv/bin/python node/bench/serving.py
	@target/venv/bin/python checker/bench/bench.py
	@target/venv/bin/python harness/bench/bench.py
	@target/venv/bin/python harness/bench/sampling.py
	@cargo bench --quiet -p highwater-workloads

fmt: ## format all sources (plug-in files too, which cargo fmt does not see)
	@git ls-files -co --exclude-standard '*.rs' | xargs rustfmt --edition 2024

lint: ## rustfmt and clippy, warnings denied; writes nothing
	@git ls-files -co --exclude-standard '*.rs' | xargs rustfmt --edition 2024 --check
	@cargo clippy --workspace --all-targets --quiet -- -D warnings

deny: ## licences, banned crates and sources of every dependency
	@.ci/setup deny
	@cargo deny --log-level error check licenses bans sources

doc: ## the crates' documentation
	@RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet

clean: ## remove what was built and the run folders
	@rm -rf target $(OUT)
