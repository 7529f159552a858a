# SPDX-License-Identifier: Apache-2.0
# Packages: each has the library, the commands and the manual, the wheel also the Python module.

# `make wheel`: for any CPython 3. Its commands are linked statically, and the library asks for no glibc newer than
# 2.17, so that it runs on any Linux of the machine. `make wheel ARCH=aarch64` builds that for another machine.

WHEEL := $(B)/wheel
# Debian's libsqlite3.a wants dlopen for extensions, which gprof never loads; the linker warns of it.
WHEEL_LD = $(CC) $(LDFLAGS) -static -s -Wl,--no-warnings -Wl,-Map=$@.map -o $@ $^

$(WHEEL)/gprof-report: $(B)/report/cli/main.o $(B)/report/serve/server_none.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(WHEEL_LD) $(REPORT_LIBS)

$(WHEEL)/gprof-record: $(B)/report/launch/main.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(WHEEL_LD)

ifneq ($(filter-out $(shell uname -m),$(if $(filter command,$(word 1,$(origin ARCH))),$(ARCH))),)
wheel: $(MANUAL) $(COMPLETION)
	$(if $(filter aarch64,$(ARCH)),,$(error a wheel can be built for this machine and for aarch64))
	$(Q)env -u MAKEFLAGS -u MAKEOVERRIDES test/cross.sh wheel
else
wheel: $(B)/libgprof.so $(B)/libgprof-os.so $(WHEEL)/gprof-report $(WHEEL)/gprof-record $(if $(TEXTS),,$(MANUAL) $(COMPLETION))
	$(Q)B=$(B) VERSION=$(VERSION) CC='$(CC)' report/package/wheel.sh
endif

# `make deb`: for the Debian or Ubuntu that builds it.
deb: all
	$(Q)B=$(B) VERSION=$(VERSION) CC='$(CC)' report/package/deb.sh

.PHONY: wheel deb
