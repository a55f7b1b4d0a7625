# memtool. `make help` lists the targets.
#   build/release  -O2                    build/memtool links to its binary
#   build/debug    -Og, ASan and UBSan    what `make check` runs
B       ?= build/release
SAN     ?=
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
PKGS    := libcjson libzstd sqlite3 libisal libxxhash
PKG_CONFIG ?= pkg-config

MT_CFLAGS := -std=c11 -D_GNU_SOURCE -I. -I$(B) -Wall -Wextra -Wshadow -Wstrict-prototypes \
    -Wmissing-prototypes -Wpointer-arith -Wvla -Werror -pthread -MMD -MP $(SAN)
LIB_SRC   := $(sort $(wildcard lib/*.c formats/*.c))
CMD_SRC   := $(sort $(wildcard cmd/*.c))

all: build/memtool
