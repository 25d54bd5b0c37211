# `make` prints what there is. Only interop needs node; everything else needs Go alone.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -o pipefail -c
.PHONY: help demo build test update gen drift lint check interop bench soak

GO ?= go

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## One real prompt turn on the embedded model, then how to connect an editor
	@sh examples/demo.sh bin/reasonix

# Without cgo the binary is static: it needs no libc and starts sooner, because
# package net would link the C resolver (bench/README.md has the figures).
build: ## Build the commands into bin/
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/...

test: ## Run all tests that need Go alone
	$(GO) test ./...

update: ## Rewrite golden transcripts and the generator's golden output, and name each one; read the diff like code
	@$(GO) test ./cmd/reasonix -run TestScripts -count=1 -v -update | grep -E "updated$$|^(ok|FAIL|---)"
	@if command -v bwrap >/dev/null; then $(GO) test ./cmd/reasonix -tags bubblewrap -run TestBubblewrapScripts -count=1 -v -update | grep -E "updated$$|^(ok|FAIL|---)"; else echo "without bubblewrap the scripts in cmd/reasonix/testdata/script/disk stay as they are"; fi
	@$(GO) test ./examples -run TestScripts -count=1 -v -update | grep -E "updated$$|^(ok|FAIL|---)"
	@$(GO) test ./gen -run 'TestCases$$' -count=1 -v -update | grep -E "updated$$|^(ok|FAIL|---)"

gen: ## Generate Go from the schemas, offline
	$(GO) run ./cmd/acpgen go --schema schema/acp/v1 --out generated/acp --package acp
	$(GO) run ./cmd/acpgen go --schema schema/reasonix/v1 --out generated/reasonix --package reasonix --import schema/acp/v1=github.com/acpkit/acpkit/generated/acp
	$(GO) run ./cmd/acpgen go --schema schema/openai/v1 --out generated/openai --package openai
	$(GO) run ./cmd/acpgen go --schema schema/script/v1 --out generated/script --package script
	$(GO) run ./cmd/acpgen docs --schema schema/acp/v1 --schema schema/reasonix/v1 --schema schema/openai/v1 --schema schema/script/v1 --out generated/docs

drift: interop/node_modules ## Compare our schema with the published one
	$(GO) run ./cmd/acpgen drift --prose

lint: ## gofmt, staticcheck
	@out=$$(gofmt -l .); [ -z "$$out" ] || { echo "gofmt would change:"; echo "$$out"; exit 1; }
	$(GO) tool staticcheck ./...
	$(GO) vet -tags interop ./interop/...
	$(GO) tool staticcheck -tags interop ./interop/...
	$(GO) tool staticcheck -tags bubblewrap ./agent/internal/ledger ./agent ./cmd/reasonix

check: build lint ## Everything that must hold, but for what needs node (on Linux it needs bubblewrap): build, vet, lint, fresh tree, tests with the race detector, no skips
	for os in linux windows darwin; do GOOS=$$os $(GO) vet ./... || exit 1; done
	cd bench && $(GO) vet ./...
	$(GO) run ./cmd/acpgen check
	sh .ci/fresh
	GO="$(GO)" sh .ci/tests

interop: build interop/node_modules ## Real peers from npm against us: TypeScript SDK, acpx, the real reasonix, schema drift
	$(GO) test -tags interop -count=1 ./interop/...

interop/node_modules: interop/package.json interop/package-lock.json
	npm ci --prefix interop --ignore-scripts --no-audit --no-fund
	@touch $@

soak: ## For the night: thousands of sessions opened and closed or deleted, and a thousand kills (some minutes)
	ACPKIT_SOAK=2000 $(GO) test ./agent -run TestMemoryStaysFlat -count=1 -v -timeout 30m
	AGENT_TEST_KILLS=1000 $(GO) test ./agent -run TestKill$$ -count=1 -timeout 60m

bench: ## Codec, peer and host beside coder/acp-go-sdk in one run: a table with ratios and aims
	cd bench && $(GO) run ./table
