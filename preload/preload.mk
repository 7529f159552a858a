# SPDX-License-Identifier: Apache-2.0
# libgprof.so: preload/ and collector/, zstd linked in and hidden, nothing but libc needed.

COLLECTOR_SRC := $(wildcard collector/*.c collector/*/*.c)
OS_SRC        := $(wildcard preload/os/*.c)
PRELOAD_SRC   := $(filter-out $(OS_SRC),$(wildcard preload/*.c preload/*/*.c))
# hook.c has most of the code and the names of all calls. It comes last, so that what each start reads lies on few pages.
PRELOAD_OBJ   := $(patsubst %.c,$(B)/%.o,$(filter-out %/hook.c,$(PRELOAD_SRC)) $(COLLECTOR_SRC) preload/hook/hook.c)
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

# libgprof-os.so: the second library. Its wrappers have the names of the C library's functions, which headers would
# otherwise define themselves where the compiler fortifies. Functions whose versions differ have that of today's programs.
OS_OBJ := $(patsubst %.c,$(B)/%.o,$(OS_SRC)) $(B)/preload/base/elf.o

$(B)/preload/os/%.o: CPPFLAGS += -U_FORTIFY_SOURCE

$(B)/exports_os.map: preload/preload.mk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)printf 'GPROF_NONE { };\nGLIBC_2.3.2 { };\nGLIBC_2.15 { local: os_pthread_*; os_posix_*; etext; __start_*; __stop_*; };\n' >$@

$(B)/libgprof-os.so: $(OS_OBJ) $(B)/exports_os.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -nostartfiles $(LDFLAGS) -Wl,--version-script=$(B)/exports_os.map \
		-Wl,-z,lazy -Wl,-z,nodelete -Wl,-z,noseparate-code -Wl,--as-needed -o $@ $(OS_OBJ)

all: $(B)/libgprof.so $(B)/libgprof-os.so
