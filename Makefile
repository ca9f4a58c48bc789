# Everything a person needs to build, test and try Fermata. `make` lists it.

SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

with-postgres := scripts/with-postgres
say = @echo "==> $(1)"
comma := ,
# Stamping the commit into a program fails where git cannot read the checkout (another owner, no commit yet).
buildvcs := $(shell git rev-parse HEAD >/dev/null 2>&1 || echo -buildvcs=false)

.PHONY: help
help: ## List the targets
	@echo "Fermata: targets of make"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "Variables: ANSWER (demo), BENCH_FLAGS (bench), HA_FLAGS (ha), SINCE (quick: the commit before the change)"
	@echo "           GROUP, PACKAGE, RUN, TEST_FLAGS (test: a part of it, as in make test GROUP=rooms PACKAGE=./internal/engine RUN=Undo)"
	@echo "           FERMATA_TEST_POSTGRES (test, bench, crash: use this server instead of starting one)"

# The types of the interface are made from the server's own document, so both are always of one kind.
web-sources := $(shell find web/src web/public web/scripts -type f ! -name schema.d.ts ! -name eventTypes.ts) \
	$(addprefix web/,index.html package.json package-lock.json tsconfig.json vite.config.ts)

.PHONY: web
web: ## Build the web interface, if its sources changed (needs Node.js)
	@scripts/setup node
	@scripts/write-openapi web/openapi.json
	@$(MAKE) --silent web/dist/index.html

web/node_modules/.package-lock.json: web/package-lock.json
	$(call say,installing what the web interface is built with)
	@cd web && npm ci --no-audit --no-fund --loglevel=error

web/dist/index.html: web/node_modules/.package-lock.json web/openapi.json $(web-sources)
	$(call say,building the web interface)
	@cd web && npm run --silent build

# -s -w leave out what only debuggers read. Stack traces and build information stay.
.PHONY: build
build: ## Build bin/fermata, one static binary
	@$(MAKE) web || echo "==> going on without the web interface: its address says how to build it"
	$(call say,building bin/fermata)
	@CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" $(buildvcs) -o bin/fermata ./cmd/fermata

.PHONY: demo
demo: ## Build and show a question from start to end (ANSWER="..." answers it)
	@scripts/setup go git
	@$(MAKE) build
	$(call say,starting the demo)
	@bin/fermata demo $${ANSWER:+--answer "$$ANSWER"}

.PHONY: ha
ha: ## Run the large deployment on this machine: Patroni, etcd, pgbouncer, HAProxy, three replicas (HA_FLAGS="...")
	@scripts/setup go git ha
	@$(MAKE) build
	@CGO_ENABLED=0 go build -trimpath $(buildvcs) -o bin/test/ha ./test/ha/start
	$(call say,starting three databases and three replicas)
	@# exec lets the interrupt of a terminal reach this program alone.
	@exec bin/test/ha $(HA_FLAGS)

.PHONY: test
test: ## Run the gate: format, vet, lint, all tests, SQLite and PostgreSQL, the race detector
	@scripts/gate

.PHONY: quick
quick: ## Check what was changed, on SQLite, in about two minutes
	@scripts/quick $(SINCE)

.PHONY: test-agents
test-agents: ## Run the real agents, and what they speak against its own suites (needs npm; installs pinned packages)
	@scripts/setup go git bwrap claude codex gemini opencode claude-agent-acp
	$(call say,running Claude Code$(comma) Codex$(comma) Gemini CLI and opencode against the scripted model)
	@# One at a time: these programs are large, and slow when they start together.
	@go test -count=1 -tags agents -parallel 1 -p 1 -timeout 30m $(TEST_FLAGS) ./test/agent ./test/agents ./test/claude ./test/acp ./test/desk
	$(call say,running the MCP conformance suite and the inspector)
	@scripts/test-mcp-conformance

.PHONY: check
check: format vet lint ## Check format, vet and lint only

.PHONY: format
format:
	$(call say,checking the format)
	@scripts/check-format

# These build with the flags of the program and of its tests, so that nothing is compiled twice.
.PHONY: vet
vet:
	$(call say,vetting)
	@CGO_ENABLED=0 go vet -trimpath ./...

.PHONY: lint
lint: ## Run the linters (the first time builds them, about a minute)
	$(call say,linting)
	@CGO_ENABLED=0 GOFLAGS="$$(go env GOFLAGS) -trimpath" scripts/tool golangci-lint run ./...

.PHONY: vulnerabilities
vulnerabilities: ## Look up known vulnerabilities of the modules that are built in
	@scripts/setup go
	$(call say,looking up known vulnerabilities)
	@scripts/check-vulnerabilities

.PHONY: bench
bench: ## Measure speed on SQLite and PostgreSQL (BENCH_FLAGS="...")
	@scripts/setup go git postgres
	$(call say,measuring)
	@$(with-postgres) go run ./test/bench $(BENCH_FLAGS)

.PHONY: seams
seams: ## Play random sequences against the laws of the system (docs/inside/tests.md; FERMATA_SEQUENCE="..." plays one)
	@scripts/setup go git postgres claude
	$(call say,playing random sequences)
	@$(with-postgres) go test -count=1 -v $(TEST_FLAGS) ./test/seams/...

.PHONY: crash
crash: ## Run the fuzz tests and the long labs: kill, restart, compare; random sequences for half an hour
	@scripts/setup go git postgres pgbouncer ha claude
	$(call say,fuzzing what is read of others (a minute a test))
	@scripts/fuzz
	$(call say,running the long labs (up to two hours))
	@$(with-postgres) go test -count=1 -race -gcflags='modernc.org/sqlite/lib=-race=false' -timeout 60m . ./client ./internal/...
	@# One package at a time: they kill the database they share.
	@$(with-postgres) go test -p 1 -count=1 -tags lab -timeout 80m ./test/... ./internal/workflow/...

.PHONY: clean
clean: ## Remove what was built
	$(call say,removing bin and test output)
	@rm -rf bin dist coverage* web/openapi.json web/src/api/schema.d.ts web/src/api/eventTypes.ts
	@find web/dist -mindepth 1 ! -name .keep -delete
