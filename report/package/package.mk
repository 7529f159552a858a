# SPDX-License-Identifier: Apache-2.0
# Packages: each has the library, the commands and the manual, the wheel also the Python module.

# `make wheel`: for any CPython 3. Its commands are linked statically, and the library asks for no glibc newer than
# 2.17, so that it runs on any Linux of the machine.

WHEEL := $(B)/wheel
# Debian's libsqlite3.a wants dlopen for extensions, which gprof never loads; the linker warns of it.
WHEEL_LD = $(CC) $(LDFLAGS) -static -s -Wl,--no-warnings -o $@ $^

$(WHEEL)/gprof-report: $(B)/report/cli/main.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(WHEEL_LD) $(REPORT_LIBS)

$(WHEEL)/gprof-record: $(B)/report/launch/main.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(WHEEL_LD)

wheel: $(B)/libgprof.so $(WHEEL)/gprof-report $(WHEEL)/gprof-record $(MANUAL) $(COMPLETION)
	$(Q)B=$(B) VERSION=$(VERSION) CC='$(CC)' report/package/wheel.sh

# `make deb`: for the Debian or Ubuntu that builds it.
deb: all
	$(Q)B=$(B) VERSION=$(VERSION) CC='$(CC)' report/package/deb.sh

.PHONY: wheel deb
