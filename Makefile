# Everything about how klawbot is built stands here and nowhere else: the build
# tag, the C flags and the one generated header. `make chat` and `make test`
# are the two commands of the README.

SHELL := /bin/bash
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# FTS5 is a build tag of go-sqlite3. A build without it stops on one undefined
# name that says "make build" (engine/internal/store/tag.go).
TAGS := sqlite_fts5

# sqlite-vec includes sqlite3.h. go-sqlite3 ships that header under another
# name, so a copy of it is put on the include path: no system package, and one
# path for every clone, because a path inside the clone would rebuild SQLite
# for each of them. No -mavx: it dies on small machines.
INCLUDE := $(shell go env GOCACHE)/klawbot-include
export CGO_ENABLED := 1
export CGO_CFLAGS := -O2 -g -I$(INCLUDE)
export GOFLAGS := $(shell go env GOFLAGS) -tags=$(TAGS)

LDFLAGS := -s -w -X main.version=$(VERSION)

.PHONY: chat test build bench fuzz soak lint docker header clean

chat: build ## build klawbot and talk to it here, with no token and no key
	@./bin/klawbot chat

build: header ## bin/klawbot
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/klawbot ./cmd/klawbot

test: header ## all tests, with the race detector
	go test -race ./...

header: $(INCLUDE)/sqlite3.h

$(INCLUDE)/sqlite3.h: go.mod
	@go mod download github.com/mattn/go-sqlite3
	@mkdir -p $(INCLUDE)
	@new=$$(go list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3)/sqlite3-binding.h; \
	  cmp -s $$new $@ || cp --no-preserve=mode $$new $@; touch $@

clean:
	rm -rf bin build
