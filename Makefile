# memtool. `make help` lists the targets.
#
#   build/release   -O2; build/memtool is its program
#   build/debug     -O1, ASan and UBSan: what `make check` runs
#   build/plain     as release, in plain C without SSE2, as on other processors
#   build/tsan      ThreadSanitizer
#   build/coverage  gcov
#   build/fuzz      clang, libFuzzer
#
# Every build is this Makefile with other values of B, CC, CFLAGS and SAN. What was built with other
# values, or of files that are gone, is built again ($(B)/stamp).

VERSION    := 0.1.0
PREFIX     ?= /usr/local
CFLAGS     ?= -O2 -g -DNDEBUG
WERROR     ?= -Werror
PKG_CONFIG ?= pkg-config
PKGS       := libcjson libzstd liblz4 sqlite3 libisal libxxhash expat libdw libelf

# `make V=1` shows whole commands.
MAKEFLAGS += --no-print-directory $(if $(V),,--silent)

B   := build/release
SAN :=
DEBUG_BUILD := B=build/debug CFLAGS="-O1 -g -fno-omit-frame-pointer" \
               SAN="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
PLAIN_BUILD := B=build/plain CFLAGS="-O2 -g -U__SSE2__"
COVERAGE_BUILD := B=build/coverage CFLAGS="-O0 -g --coverage"
TSAN_BUILD  := B=build/tsan CFLAGS="-O1 -g" SAN=-fsanitize=thread
FUZZ_BUILD  := B=build/fuzz CC=clang WERROR= FUZZ_MAIN= CFLAGS="-O1 -g -fno-omit-frame-pointer -DMT_FUZZING" \
               SAN="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"

WARNINGS  := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
             -Wvla $(WERROR)
MT_CFLAGS := -std=c11 -D_GNU_SOURCE -DMT_VERSION='"$(VERSION)"' -I. -I$(B) $(WARNINGS) -pthread \
             $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null) $(SAN)
# Where figures of a hostile file overflow, they are wrong but defined; tests see the overflow.
MT_CFLAGS += $(if $(SAN),,-fwrapv)
LIBS      := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lsupc++ -pthread -lm

SQL  := $(sort $(wildcard queries/*.sql))
SKILL := $(wildcard docs/skill/memtool/SKILL.md)
SCHEMAS := $(wildcard docs/schema/*.json)
ASSETS := $(sort $(wildcard lib/flame/*.css lib/flame/*.js lib/page/*.css lib/page/*.js lib/page/*.html queries/clickhouse/*.sql) $(SKILL))
# The objects of all C files below folders, whatever folders these have.
obj   = $(patsubst %.c,$(B)/%.o,$(sort $(shell find $(1) -name '*.c')))
LIB_OBJ  := $(B)/gen/queries.o $(B)/gen/image.o $(B)/gen/assets.o $(call obj,lib formats)
LIB_OBJ  := $(filter-out $(B)/lib/record/malloc_preload.o,$(LIB_OBJ))
CMD_OBJ  := $(call obj,cmd)
TEST_OBJ := $(call obj,tests/unit tests/fuzz)
UNIT_OBJ := $(filter $(B)/tests/unit/%,$(TEST_OBJ))
UNIT_HELP := $(filter-out $(B)/tests/unit/test_%,$(UNIT_OBJ))
UNIT     := $(patsubst %.o,%,$(filter-out $(UNIT_HELP),$(UNIT_OBJ)))
FUZZ_MAIN := $(B)/tests/fuzz/replay.o
FUZZ     := $(patsubst %.o,%,$(filter $(B)/tests/fuzz/fuzz_%,$(TEST_OBJ)))
# What reports are fuzzed with: the commands, in the process of the target.
FUZZ_HELP := $(filter $(B)/tests/fuzz/reports%,$(TEST_OBJ)) $(filter-out $(B)/cmd/main.o,$(CMD_OBJ))

MAN      := $(patsubst docs/man/%.mdoc,$(B)/man/%.1,$(wildcard docs/man/*.mdoc))
SUPPORT  := $(patsubst lib/record/%,$(B)/support/%,$(wildcard lib/record/torch/*.py)) \
            $(if $(wildcard lib/record/malloc_preload.c),$(B)/support/malloc.so)
# The help of each command, for the skill.
REFERENCES := $(patsubst $(B)/man/memtool-%.1,$(B)/skill/%.md,$(filter $(B)/man/memtool-%,$(MAN)))
COMPLETIONS := $(addprefix $(B)/completion/,bash zsh fish)

# Where things are installed; names may hold blanks.
BINDIR   := $(DESTDIR)$(PREFIX)/bin
LIBDIR   := $(DESTDIR)$(PREFIX)/lib/memtool
MANDIR   := $(DESTDIR)$(PREFIX)/share/man/man1
DATADIR  := $(DESTDIR)$(PREFIX)/share/memtool
SKILLDIR := $(DATADIR)/skill/memtool
SCHEMADIR := $(DATADIR)/schema
BASH_COMPLETION := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/memtool
ZSH_COMPLETION  := $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_memtool
FISH_COMPLETION := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/memtool.fish

.PHONY: all demo check check-plain check-threads coverage bench fuzz-smoke golden-update man-update format lint
.PHONY: install uninstall dist deb wheel clean help deps program test-programs fuzz-programs FORCE
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

check-plain: ## the same for a build without SSE2, as on other processors; not the slow tests
	.ci/deps build check
	$(MAKE) $(PLAIN_BUILD) program test-programs
	sh tests/run.sh build/plain unit fuzz golden

check-threads: ## what runs in several threads, under ThreadSanitizer
	.ci/deps build
	$(MAKE) $(TSAN_BUILD) program
	sh tests/threads.sh build/tsan

coverage: ## lines of each room that the tests run; KINDS="unit golden" chooses tests
	.ci/deps build check
	$(MAKE) $(COVERAGE_BUILD) program test-programs
	sh tests/coverage.sh build/coverage $(KINDS)

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

bench: ## measure against the goals; SIZES="100 1000 3300" are MB of JSON, SIZES=heap only heap logs
	.ci/deps build bench
	$(MAKE) all build/bench/inflate_only build/bench/measure
	python3 tests/bench/bench.py $(SIZES)

lint: ## formatting, layers, headers, function length, scripts
	.ci/deps build lint
	$(MAKE) $(B)/gen/queries.h $(B)/gen/assets.h $(MAN) $(COMPLETIONS)
	sh tests/lint.sh $(B) $(CC) $(MT_CFLAGS)

format: ## clang-format every source in place
	.ci/deps lint
	find cmd lib formats tests -name '*.[ch]' -exec clang-format -i {} +

install: $(B)/memtool $(SUPPORT) $(MAN) $(REFERENCES) $(COMPLETIONS) ## install to PREFIX (/usr/local), below DESTDIR if given
	install -D $(B)/memtool "$(BINDIR)/memtool"
	$(if $(filter %.py,$(SUPPORT)),install -Dm644 -t "$(LIBDIR)/torch" $(filter %.py,$(SUPPORT)))
	$(if $(filter %.so,$(SUPPORT)),install -D $(B)/support/malloc.so "$(LIBDIR)/malloc.so")
	install -Dm644 -t "$(MANDIR)" $(MAN)
	$(if $(SCHEMAS),install -Dm644 -t "$(SCHEMADIR)" $(SCHEMAS))
	$(if $(SKILL),install -Dm644 $(SKILL) "$(SKILLDIR)/SKILL.md")
	$(if $(REFERENCES),install -Dm644 -t "$(SKILLDIR)/references" $(REFERENCES))
	install -Dm644 $(B)/completion/bash "$(BASH_COMPLETION)"
	install -Dm644 $(B)/completion/zsh "$(ZSH_COMPLETION)"
	install -Dm644 $(B)/completion/fish "$(FISH_COMPLETION)"
	@echo "installed to $(DESTDIR)$(PREFIX)"

uninstall: ## remove what install put there; with the same PREFIX and DESTDIR
	rm -rf "$(LIBDIR)" "$(DATADIR)"
	rm -f "$(BINDIR)/memtool" $(foreach page,$(notdir $(MAN)),"$(MANDIR)/$(page)") \
	    "$(BASH_COMPLETION)" "$(ZSH_COMPLETION)" "$(FISH_COMPLETION)"
	@echo "removed from $(DESTDIR)$(PREFIX)"

dist: ## pack the sources of a release: build/memtool-VERSION.tar.gz
	.packages/dist $(VERSION) build

deb: ## build a Debian package: build/memtool_VERSION_ARCHITECTURE.deb
	.ci/deps build deb
	.packages/deb $(VERSION) build

wheel: $(B)/wheel/memtool $(SUPPORT) $(MAN) $(REFERENCES) $(COMPLETIONS) ## build a package for pip: build/memtool-VERSION-py3-none-PLATFORM.whl
	rm -rf $(B)/wheel/tree
	$(MAKE) DESTDIR=$(B)/wheel/tree PREFIX= install >/dev/null
	install $(B)/wheel/memtool $(B)/wheel/tree/bin/memtool
	strip --strip-unneeded --remove-section=.note.gnu.build-id $(B)/wheel/tree/lib/memtool/malloc.so
	.packages/wheel $(VERSION) $(B)/wheel/tree build $(ARCHIVES)

deps: ## install missing Debian packages
	.ci/deps build

clean: ## remove build/
	rm -rf build

help: ## list the targets
	sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/\1 \2/p' Makefile | \
	    while read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done

# The program of the build that was asked for, whichever was linked before.
build/memtool: LINK = $(if $(filter /%,$(B)),$(B),../$(B))/memtool
build/memtool: $(B)/memtool FORCE
	mkdir -p $(@D)
	[ "$$(readlink $@)" = "$(LINK)" ] || ln -sfn "$(LINK)" $@

# What goes with the program: cmd/support.c looks for it there, and below lib/memtool where it is installed.

$(B)/support/torch/%.py: lib/record/torch/%.py
	install -Dm644 $< $@

# It is loaded into programs, which are none of ours: without sanitizers, and with nothing of ours.
$(B)/support/malloc.so: lib/record/malloc_preload.c lib/record/malloc_table.h Makefile
	mkdir -p $(@D)
	@echo "ld $@"
	$(CC) -std=c11 -D_GNU_SOURCE -I. $(WARNINGS) -O2 -g -fPIC -shared -fvisibility=hidden $(LDFLAGS) -o $@ $< -pthread

# What each build consists of.

program: $(B)/memtool $(SUPPORT)
test-programs: $(UNIT) $(FUZZ)
fuzz-programs: $(FUZZ)

$(B)/memtool: $(CMD_OBJ) $(B)/libmemtool.a $(B)/stamp/objects | $(SUPPORT)
	@echo "ld $@"
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(if $(STATIC),$(LINKED_IN),$(LIBS))

# Libraries are linked in where there is an archive of one, but for glibc: to load them takes a quarter of a small
# report. Debian's libxxhash.a lacks what chooses by processor. Where something that an archive asks for is not
# installed, and with `make STATIC=`, all are shared ones.
STATIC ?= $(if $(SAN)$(strip $(NOT_INSTALLED)),,yes)
NOT_INSTALLED = $(foreach l,$(sort $(STATIC_LIBS)),$(if $(filter /%,$(shell \
    for kind in a so; do $(CC) -print-file-name=lib$(l:-l%=%).$$kind; done)),,$(l)))
LINKED_IN = -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(WITHOUT_ARCHIVE) -lsupc++ -pthread -lm
STATIC_LIBS = $(shell $(PKG_CONFIG) --static --libs-only-l $(PKGS))
ARCHIVES = $(sort $(filter /%,$(foreach l,$(filter-out -lxxhash -lm -lpthread -ldl,$(STATIC_LIBS)), \
               $(shell $(CC) -print-file-name=lib$(l:-l%=%).a))))
WITHOUT_ARCHIVE = $(filter-out $(patsubst lib%.a,-l%,$(notdir $(ARCHIVES))),$(STATIC_LIBS))

# The program of the wheel: what has no archive comes along.
$(B)/wheel/memtool: .packages/getrandom.c $(CMD_OBJ) $(B)/libmemtool.a $(B)/stamp/objects
	mkdir -p $(@D)
	@echo "ld $@"
	$(CC) $(WARNINGS) $(CFLAGS) $(LDFLAGS) -s -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib/memtool' -o $@ $(filter %.c %.o %.a,$^) \
	    $(LINKED_IN)

$(B)/libmemtool.a: $(LIB_OBJ) $(B)/stamp/objects
	rm -f $@
	$(AR) rcs $@ $(filter %.o,$^)

$(B)/tests/unit/test_%: $(B)/tests/unit/test_%.o $(UNIT_HELP) $(B)/cmd/opts.o $(B)/cmd/opts_help.o $(B)/cmd/cache_files.o $(B)/libmemtool.a
	@echo "ld $@"
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka -lz

$(filter $(B)/tests/fuzz/fuzz_reports_%,$(FUZZ)): $(FUZZ_HELP)
$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(FUZZ_MAIN) $(B)/libmemtool.a
	@echo "ld $@"
	$(CC) $(CFLAGS) $(SAN) $(if $(FUZZ_MAIN),,-fsanitize=fuzzer) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

build/bench/%: tests/bench/%.c
	mkdir -p $(@D)
	@echo "cc $<"
	$(CC) $(MT_CFLAGS) $(CFLAGS) -o $@ $< -lz

$(B)/%.o: %.c Makefile $(B)/stamp/flags | $(B)/gen/queries.h $(B)/gen/assets.h $(B)/packages
	mkdir -p $(@D)
	@echo "cc $<"
	$(CC) $(MT_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/gen/%.o: $(B)/gen/%.c Makefile $(B)/stamp/flags | $(B)/gen/queries.h
	@echo "cc $<"
	$(CC) $(MT_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Their assert() is what tests, also in a build with NDEBUG.
$(TEST_OBJ): private MT_CFLAGS += -Wno-missing-prototypes
$(TEST_OBJ): private override CFLAGS += -UNDEBUG

# A manual page: what the option tables know and what a person wrote.
$(MAN): $(B)/man/%.1: docs/man/%.mdoc docs/man/page.awk $(B)/memtool
	mkdir -p $(@D)
	$(B)/memtool help --man $(patsubst memtool-%,%,$(filter memtool-%,$*)) >$@.tmp
	awk -f docs/man/page.awk $< $@.tmp >$@ && rm $@.tmp

$(REFERENCES): $(B)/skill/%.md: $(B)/memtool
	mkdir -p $(@D)
	{ printf '# memtool %s\n\n```\n' $*; COLUMNS=80 $(B)/memtool help $*; echo '```'; } >$@.tmp && mv $@.tmp $@

$(B)/completion/%: $(B)/memtool
	mkdir -p $(@D)
	$(B)/memtool completion $* >$@

# queries/*.sql become an enum and a table of texts.
$(B)/gen/queries.h $(B)/gen/queries.c: $(B)/gen/queries.%: queries/embed.awk $(SQL) $(B)/stamp/queries
	mkdir -p $(@D)
	awk -v mode=$* -f queries/embed.awk /dev/null $(SQL) >$@.tmp && mv $@.tmp $@

# The empty database, which new files begin as.
$(B)/gen/image: queries/image.c $(B)/gen/queries.o lib/db/db.h lib/db/db_parts.h
	@echo "ld $@"
	$(CC) $(MT_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(LIBS)
$(B)/gen/image.c: $(B)/gen/image
	$< >$@.tmp && mv $@.tmp $@

# Styles and scripts of pages become texts: lib/flame/flame.css is mt_asset_flame_css.
$(B)/gen/assets.h $(B)/gen/assets.c: $(B)/gen/assets.%: lib/flame/embed.awk $(ASSETS)
	mkdir -p $(@D)
	awk -v mode=$* -f lib/flame/embed.awk /dev/null $(ASSETS) >$@.tmp && mv $@.tmp $@

# What a build was made with. A stamp changes when its text does, and so ages what stands on it.
STAMP_flags   = $(CC) $(MT_CFLAGS) $(CFLAGS) $(LDFLAGS) $(LIBS) $(FUZZ_MAIN)
STAMP_objects = $(LIB_OBJ) $(CMD_OBJ) $(UNIT_HELP) $(STATIC)
STAMP_queries = $(SQL)
$(B)/stamp/%: export TEXT = $(STAMP_$(@F))
$(B)/stamp/%: FORCE
	mkdir -p $(@D)
	printf '%s\n' "$$TEXT" | cmp -s - $@ || printf '%s\n' "$$TEXT" >$@

$(B)/packages:
	mkdir -p $(@D)
	$(PKG_CONFIG) --exists --print-errors $(PKGS) || \
	    { echo "libraries are missing: 'make deps' installs them" >&2; exit 1; }
	touch $@

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(CMD_OBJ) $(TEST_OBJ))
