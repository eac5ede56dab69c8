# One entry point for people and for CI. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Modules are taken as go.mod states them, by the toolchain that is installed: a build changes nothing and fetches no compiler.
export GOFLAGS ?= -mod=readonly
export GOTOOLCHAIN ?= local

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
BINARIES := loadgen gateway fakeworker

# FUZZTIME is spent on each fuzz target, BENCHTIME on each benchmark; the soak plays SEEDS scenarios of REQUESTS each.
FUZZTIME ?= 10s
SEEDS ?= 100000
REQUESTS ?= 100
BENCHTIME ?= 1s
KILLS ?= 50
TOOL := go tool -modfile=tools/go.mod

.PHONY: help build run test check fmt vet cross lint tidy bench fuzz soak kill golden cover images compose-verify clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | awk -F'\t' '{printf "  %-16s %s\n", $$1, $$2}'

build: ## bin/loadgen bin/gateway bin/fakeworker, static
	@mkdir -p bin
	@for b in $(BINARIES); do echo "build bin/$$b"; CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/$$b ./cmd/$$b; done

run: build ## the main job: the documented patterns on the wire, documented beside measured (about 70 s)
	bin/loadgen verify

test: ## all tests under the race detector (below 10 minutes on 2 cores)
	go test -race -timeout 9m ./...

check: fmt vet cross lint tidy ## formatting, vet, other platforms, linters, module files

fmt:
	@bad=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); [ -z "$$bad" ] || { echo "not gofmt'ed (run gofmt -w):"; echo "$$bad"; exit 1; }

vet:
	go vet ./...

# 386 finds int64 and atomics mistakes, darwin finds what only Linux has.
cross:
	GOOS=linux GOARCH=386 go vet ./...
	GOOS=linux GOARCH=arm64 go build ./...
	GOOS=darwin GOARCH=arm64 go vet ./...

lint:
	$(TOOL) golangci-lint run ./...
	$(TOOL) staticcheck ./...

tidy:
	go mod tidy -diff
	go mod verify

bench: ## all benchmarks (BENCHTIME=1s)
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -timeout 60m ./...

fuzz: ## every fuzz target, one after the other (FUZZTIME=10s each)
	tools/fuzz.sh $(FUZZTIME)

soak: ## faults in virtual time on 100,000 seeds (SEEDS=1000000 REQUESTS=1000 before a release), with the table of rare states
	go test -count 1 -timeout 24h -run 'TestFaults$$' -v ./sim -seeds=$(SEEDS) -requests=$(REQUESTS)
	SEEDS=2000 go test -count 1 -timeout 120m ./scheduler/... ./sim/... ./platform/... ./patterns/... ./history

kill: ## kill -9 of KILLS=50 runs on the wire at random moments: each must be whole or be recovered (about 7 s a run)
	go test -count 1 -timeout 60m -run 'TestKilledRuns$$' -v ./cmd/loadgen -kills=$(KILLS)

golden: ## rewrite the golden files; review the diff, not the flag
	tools/golden.sh

cover: ## statement coverage by package, and cover.html
	@mkdir -p bin
	go test -timeout 9m -coverprofile bin/cover.out -coverpkg ./... ./...
	go tool cover -html bin/cover.out -o bin/cover.html
	go tool cover -func bin/cover.out | tail -1

images: build ## container images from scratch with the static binaries; nothing is pulled
	deploy/images.sh

compose-verify: build ## the burst pattern through docker-compose.yml; skipped with a message without a Docker engine
	deploy/compose-verify.sh

clean: ## remove what the build made
	rm -rf bin
