# memtool. `make help` lists the targets.
#
#   build/release   -O2; build/memtool is its program
#   build/debug     -O1, ASan and UBSan: what `make check` runs
#   build/fuzz      clang, libFuzzer
#
# Every build is this Makefile with other values of B, CC, CFLAGS and SAN.

VERSION    := 0.1.0
PREFIX     ?= /usr/local
CFLAGS     ?= -O2 -g
WERROR     ?= -Werror
PKG_CONFIG ?= pkg-config
PKGS       := libcjson libzstd sqlite3 libisal libxxhash

# `make V=1` shows whole commands.
MAKEFLAGS += --no-print-directory $(if $(V),,--silent)

B   := build/release
SAN :=
DEBUG_BUILD := B=build/debug CFLAGS="-O1 -g -fno-omit-frame-pointer" \
               SAN="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
FUZZ_BUILD  := B=build/fuzz CC=clang WERROR= FUZZ_MAIN= CFLAGS="-O1 -g -fno-omit-frame-pointer" \
               SAN="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"

WARNINGS  := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
             -Wvla $(WERROR)
MT_CFLAGS := -std=c11 -D_GNU_SOURCE -DMT_VERSION='"$(VERSION)"' -I. -I$(B) $(WARNINGS) -pthread \
             $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null) $(SAN)
# Where figures of a hostile file overflow, they are wrong but defined; tests see the overflow.
MT_CFLAGS += $(if $(SAN),,-fwrapv)
LIBS      := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -pthread -lm

SQL  := $(sort $(wildcard queries/*.sql))
obj   = $(patsubst %.c,$(B)/%.o,$(sort $(wildcard $(1))))
LIB_OBJ  := $(B)/gen/queries.o $(call obj,lib/*.c formats/*.c)
CMD_OBJ  := $(call obj,cmd/*.c)
TEST_OBJ := $(call obj,tests/unit/*.c tests/fuzz/*.c)
UNIT_HELP := $(filter-out $(B)/tests/unit/test_%,$(call obj,tests/unit/*.c))
UNIT     := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/test_*.c)))
FUZZ_MAIN := $(B)/tests/fuzz/replay.o
FUZZ     := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

MAN      := $(patsubst docs/man/%.mdoc,$(B)/man/%.1,$(wildcard docs/man/*.mdoc))

BINDIR   := $(DESTDIR)$(PREFIX)/bin
SHAREDIR := $(DESTDIR)$(PREFIX)/share
COMPLETIONS := bash:bash-completion/completions/memtool zsh:zsh/site-functions/_memtool \
               fish:fish/vendor_completions.d/memtool.fish

.PHONY: all demo check bench fuzz-smoke golden-update man-update format lint install clean help deps
.PHONY: program test-programs fuzz-programs
.DELETE_ON_ERROR:
.SECONDARY:

all: build/memtool ## build build/memtool

demo: deps ## build, import a sample recording, show its table
	$(MAKE) all
	sh samples/demo.sh

check: ## build with sanitizers, run every test
	.ci/deps build check
	$(MAKE) $(DEBUG_BUILD) program test-programs
	sh tests/run.sh build/debug

golden-update: ## rewrite the expectations in tests/golden (then review the diff)
	$(MAKE) $(DEBUG_BUILD) program
	UPDATE=1 MEMTOOL=build/debug/memtool sh tests/golden/run.sh $(CASES)

man-update: ## rewrite what the examples in docs/man print (then review the diff)
	$(MAKE) $(DEBUG_BUILD) program
	dir=$$(mktemp -d) && cd $$dir && UPDATE=1 MEMTOOL=$(CURDIR)/build/debug/memtool \
	    SAMPLES=$(CURDIR)/samples sh $(CURDIR)/tests/fault/manual.sh; rm -rf $$dir

fuzz-smoke: ## fuzz each target for FUZZ_SECONDS (20)
	.ci/deps build fuzz
	$(MAKE) $(FUZZ_BUILD) fuzz-programs
	sh tests/fuzz/smoke.sh build/fuzz $(FUZZ_SECONDS)

bench: ## measure against the goals; SIZES="100 1000 3300" are MB of JSON
	.ci/deps build bench
	$(MAKE) all build/bench/inflate_only build/bench/measure
	python3 tests/bench/bench.py $(SIZES)

lint: ## formatting, layers, headers, function length, scripts
	.ci/deps build lint
	$(MAKE) $(B)/gen/queries.h $(MAN)
	sh tests/lint.sh $(CC) $(MT_CFLAGS)

format: ## clang-format every source in place
	.ci/deps lint
	clang-format -i $(wildcard */*.[ch] tests/*/*.[ch])

install: all $(MAN) ## install to PREFIX (/usr/local), below DESTDIR if given
	install -D $(B)/memtool $(BINDIR)/memtool
	install -Dm644 -t $(SHAREDIR)/man/man1 $(MAN)
	for row in $(COMPLETIONS); do file=$(SHAREDIR)/$${row#*:}; mkdir -p $$(dirname $$file); \
	    $(B)/memtool completion $${row%%:*} >$$file || { rm -f $$file; exit 1; }; done
	@echo "installed to $(DESTDIR)$(PREFIX)"

deps: ## install missing Debian packages
	.ci/deps build

clean: ## remove build/
	rm -rf build

help: ## list the targets
	sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/\1 \2/p' Makefile | \
	    while read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done

build/memtool: $(B)/memtool
	ln -sf release/memtool $@

# What each build consists of.

program: $(B)/memtool
test-programs: $(UNIT) $(FUZZ)
fuzz-programs: $(FUZZ)

$(B)/memtool: $(CMD_OBJ) $(B)/libmemtool.a
	@echo "ld $@"
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/libmemtool.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(B)/tests/unit/test_%: $(B)/tests/unit/test_%.o $(UNIT_HELP) $(B)/cmd/opts.o $(B)/cmd/opts_help.o $(B)/libmemtool.a
	@echo "ld $@"
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka -lz

$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(FUZZ_MAIN) $(B)/libmemtool.a
	@echo "ld $@"
	$(CC) $(CFLAGS) $(SAN) $(if $(FUZZ_MAIN),,-fsanitize=fuzzer) $(LDFLAGS) -o $@ $^ $(LIBS)

build/bench/%: tests/bench/%.c
	mkdir -p $(@D)
	@echo "cc $<"
	$(CC) $(MT_CFLAGS) $(CFLAGS) -o $@ $< -lz

$(B)/%.o: %.c Makefile | $(B)/gen/queries.h $(B)/packages
	mkdir -p $(@D)
	@echo "cc $<"
	$(CC) $(MT_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/gen/%.o: $(B)/gen/%.c Makefile | $(B)/gen/queries.h
	@echo "cc $<"
	$(CC) $(MT_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(TEST_OBJ): MT_CFLAGS += -Wno-missing-prototypes

# A manual page: what the option tables know and what a person wrote.
$(MAN): $(B)/man/%.1: docs/man/%.mdoc docs/man/page.awk $(B)/memtool
	mkdir -p $(@D)
	$(B)/memtool help --man $(patsubst memtool-%,%,$(filter memtool-%,$*)) >$@.tmp
	awk -f docs/man/page.awk $< $@.tmp >$@ && rm $@.tmp

# queries/*.sql become an enum and a table of texts.
$(B)/gen/queries.h $(B)/gen/queries.c: $(B)/gen/queries.%: queries/embed.awk $(SQL)
	mkdir -p $(@D)
	awk -v mode=$* -f queries/embed.awk /dev/null $(SQL) >$@.tmp && mv $@.tmp $@

$(B)/packages:
	mkdir -p $(@D)
	$(PKG_CONFIG) --exists --print-errors $(PKGS) || \
	    { echo "libraries are missing: 'make deps' installs them" >&2; exit 1; }
	touch $@

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(CMD_OBJ) $(TEST_OBJ))
