# SPDX-License-Identifier: Apache-2.0
# libgprof.so: preload/ and collector/, zstd linked in and hidden, nothing but libc needed.

COLLECTOR_SRC := $(wildcard collector/*.c collector/*/*.c)
PRELOAD_SRC   := $(wildcard preload/*.c preload/*/*.c)
PRELOAD_OBJ   := $(patsubst %.c,$(B)/%.o,$(PRELOAD_SRC) $(COLLECTOR_SRC))
ZSTD_A        ?= $(firstword $(wildcard $(addsuffix /libzstd.a,/usr/lib/$(shell $(CC) -dumpmachine) /usr/local/lib /usr/lib64 /usr/lib)))

# The hot loops of the encoder want the vectoriser.
$(B)/collector/format/block.o: CFLAGS += -O3 -funroll-loops

$(B)/preload/hooks_dl.o: CPPFLAGS += -DCOMPAT_OWN_LOADER

# Vectors made of neighbouring fields are loaded across the stores of two arguments, which stalls. A hook jumps
# to its slow half at -O1, too.
$(B)/preload/hook/hook.o: CFLAGS += -fno-tree-slp-vectorize -foptimize-sibling-calls
# Where the variables of some thousand functions are would take a quarter of this file's time.
$(B)/preload/hook/hook.o: CFLAGS += -g1
# Where a hook cannot jump to its slow half, its frame shows the caller.
ifeq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
$(B)/preload/hook/hook.o: CFLAGS += -fno-omit-frame-pointer
endif

# Exactly the hooked names and the entry points leave the library: what is not hidden by -fvisibility. They have
# no version, which would keep them from standing in for versioned symbols; but dlopen has those of glibc (hooks_dl.c).
# The loader takes a library's first version for one of symbols without, so that one is not used.
$(B)/exports.map: preload/preload.mk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)printf 'GPROF_NONE { };\nGLIBC_2.2.5 { };\nGLIBC_2.17 { };\nGLIBC_2.34 { local: hooks_dlopen; etext; __start_*; __stop_*; };\n' >$@

# Without the compiler's own start files, which each start would look up four functions for, and take a page
# fault at its end.
$(B)/libgprof.so: $(PRELOAD_OBJ) $(B)/exports.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -nostartfiles $(LDFLAGS) -Wl,--version-script=$(B)/exports.map -Wl,--exclude-libs,ALL \
		-Wl,-z,lazy -Wl,-z,nodelete -Wl,-z,noseparate-code -Wl,--as-needed -o $@ $(PRELOAD_OBJ) $(ZSTD_A)

all: $(B)/libgprof.so
