# SPDX-License-Identifier: Apache-2.0
# The programs of test/host: each probe without CUDA (plain) and with the simulated one (cuda).

HOST      := $(B)/host
HOST_SRC  := $(addprefix test/host/,probe.c files.c processes.c threads.c ends.c signals.c loads.c)
HOST_BIN  := $(addprefix $(HOST)/,plain cuda own-plain own-cuda module-plain.so module-cuda.so \
	interposer.so empty.so steps tiny)
HOST_CUDA := -DPROBE_CUDA
HOST_LINK := $(B)/sim/libcudart.so.13 -Wl,-rpath,'$$ORIGIN/../sim'
HOST_CC    = $(call say,HOST,$@) ; mkdir -p $(@D) ; \
	$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default $(LDFLAGS)

$(HOST)/plain: $(HOST_SRC) test/host/probe.h test/entries.h
	@$(HOST_CC) -o $@ $(HOST_SRC) -ldl -lpthread

$(HOST)/cuda: $(HOST_SRC) test/host/probe.h test/entries.h $(B)/sim/libcudart.so.13 | sim
	@$(HOST_CC) $(HOST_CUDA) -o $@ $(HOST_SRC) $(HOST_LINK) -ldl -lpthread

# Exported, since a program's own functions are found by others only then.
$(HOST)/own-plain: test/host/own.c
	@$(HOST_CC) -rdynamic -fno-builtin -Wno-missing-prototypes -o $@ $< -ldl -lpthread

$(HOST)/own-cuda: test/host/own.c $(B)/sim/libcudart.so.13 | sim
	@$(HOST_CC) $(HOST_CUDA) -rdynamic -fno-builtin -Wno-missing-prototypes -o $@ $< $(HOST_LINK) \
		-ldl -lpthread

$(HOST)/module-plain.so: test/host/module.c
	@$(HOST_CC) -fPIC -shared -o $@ $<

$(HOST)/module-cuda.so: test/host/module.c $(B)/sim/libcudart.so.13 | sim
	@$(HOST_CC) $(HOST_CUDA) -fPIC -shared -o $@ $< $(HOST_LINK)

$(HOST)/interposer.so: test/host/interposer.c
	@$(HOST_CC) -fPIC -shared -o $@ $< -ldl

$(HOST)/empty.so:
	@$(HOST_CC) -fPIC -shared -o $@ -x c /dev/null

$(HOST)/steps $(HOST)/tiny: $(HOST)/%: test/host/%.c
	@$(HOST_CC) -o $@ $<

host-programs: $(HOST_BIN)

# Once, not for each sanitizer: the programs are full of what those forbid.
ifndef SAN
tests: host-programs
endif

.PHONY: host-programs
