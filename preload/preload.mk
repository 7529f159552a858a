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
# Where a hook cannot jump to its slow half, its frame shows the caller.
ifeq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
$(B)/preload/hook/hook.o: CFLAGS += -fno-omit-frame-pointer
endif

# Exactly the hooked names and the entry points leave the library. The node has no name: a named
# one would keep it from standing in for versioned symbols.
$(B)/exports.map: preload/hook/hooks.def preload/preload.mk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q){ printf '{\nglobal:\n'; \
	  printf '#define HOOK(api,need,ret,name,params,args,facts) @name;\n#define HOOK_MANUAL(api,need,ret,name,params,args) @name;\n#define END(ret,name,params) @name;\n#define CUPTI_HOOK(name,params) @name;\n#define NCCL_HOOK(name,params,args,facts) @name;\n#define CXX(symbol) @symbol;\n#define LOADER(ret,name,params) @name;\n#include "preload/hook/hooks.def"\n' \
	  | $(CC) -E -P -I. -x c - | grep -o '@ *[A-Za-z0-9_]*' | tr -d '@ ' | sort -u | sed 's/.*/\t&;/'; \
	  printf '\tInitializeInjection;\n\tInitializeInjectionNvtx2;\n\tInitializeInjectionNvtxExtension;\n\tgprof_step;\n\tgprof_range_push;\n\tgprof_range_pop;\nlocal: *;\n};\n'; } >$@

# Without the compiler's own start files, which each start would look up four functions for, and take a page
# fault at its end.
$(B)/libgprof.so: $(PRELOAD_OBJ) $(B)/exports.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -nostartfiles $(LDFLAGS) -Wl,--version-script=$(B)/exports.map -Wl,--exclude-libs,ALL \
		-Wl,-z,lazy -Wl,-z,nodelete -Wl,-z,noseparate-code -Wl,--as-needed -o $@ $(PRELOAD_OBJ) $(ZSTD_A)

all: $(B)/libgprof.so
