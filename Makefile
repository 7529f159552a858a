# SPDX-License-Identifier: Apache-2.0
# gprof: `make` builds, `make demo` shows, `make test` proves. `make help` lists the rest.

VERSION := 0.1.0

ifeq ($(origin CC),default)
CC       := gcc
endif
B        ?= build
PREFIX   ?= /usr/local
# Lines are all that stacks of perf and of sanitizers name; types and variables (-g) take a quarter of the build.
# Sanitized, most of -O2 is lost to the checks: -O0 builds in a third of the time. ThreadSanitizer would check variables of
# the stack there, too.
OPT      ?= $(if $(SAN),$(if $(filter thread,$(SAN)),-Og,-O0),-O2) -g1
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
WERROR   ?= -Werror
comma    := ,
# SAN=address,undefined or SAN=thread builds everything with that sanitizer into its own folder.
ifdef SAN
B        := build/san-$(firstword $(subst $(comma), ,$(SAN)))
# Undefined behaviour traps (handle_sigill=1 shows the stack): its messages would be two thirds of a program, which takes
# longer to build and to start.
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer \
	$(if $(findstring undefined,$(SAN)),-fsanitize-undefined-trap-on-error)
# GCC cannot see through a sanitizer's calls; the plain build has this warning.
WARN     += -Wno-maybe-uninitialized
endif
CPPFLAGS += -I. -D_GNU_SOURCE -DGPROF_VERSION='"$(VERSION)"'
CFLAGS   += -std=gnu11 $(OPT) $(WARN) $(WERROR) -fvisibility=hidden $(SANFLAGS)
# A build ID would differ with the folder that builds, which debug information names.
LDFLAGS  += $(SANFLAGS) -Wl,--build-id=none

ifndef V
Q := @
say = @printf '  %-8s%s\n' $(1) $(2)
else
Q :=
say = @:
endif

all:

# `make demo` and `make test` install what is missing, before anything below looks for it.
DEPS := $(sort $(filter demo test check bench fuzz,$(MAKECMDGOALS:test-all=test)))
ifneq ($(DEPS),)
ifneq ($(shell test/deps.sh build $(DEPS) >&2 || echo failed),)
$(error packages are missing, see above)
endif
endif

-include $(wildcard */*.mk */*/*.mk)

# Everything that goes into the injected library is position independent. Hooks find their caller in what is inlined
# into them, and -Og inlines too little.
$(B)/preload/%.o $(B)/collector/%.o: CFLAGS += -fPIC -fno-semantic-interposition $(if $(SAN),-O1)
$(B)/preload/%.o $(B)/collector/%.o: CPPFLAGS += -include collector/util/compat.h

$(B)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(shell find $(B) -type f -name '*.d' 2>/dev/null)

# The preloaded library goes where the loader finds its bare name.
LIBDIR := $(DESTDIR)$(PREFIX)/lib
BINDIR := $(DESTDIR)$(PREFIX)/bin
MANDIR := $(DESTDIR)$(PREFIX)/share/man/man1
DOCDIR := $(DESTDIR)$(PREFIX)/share/doc/gprof-profiler
GUIDES := profiler.env.example $(wildcard docs/*.md)
BASHDIR := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
# bash and fish look for a command's name; the script is of both commands.
COMPLETIONS := $(BASHDIR)/gprof-report $(BASHDIR)/gprof-record $(ZSHDIR)/_gprof-report \
	$(FISHDIR)/gprof-report.fish $(FISHDIR)/gprof-record.fish

install: all
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)install -d $(LIBDIR) $(BINDIR) $(MANDIR) $(DOCDIR) $(BASHDIR) $(ZSHDIR) $(FISHDIR)
	$(Q)install -m 755 $(B)/libgprof.so $(B)/libgprof-os.so $(LIBDIR)
	$(Q)install -m 755 $(B)/gprof-report $(B)/gprof-record $(BINDIR)
	$(Q)[ ! -e $(B)/gprof-report-mpi ] || install -m 755 $(B)/gprof-report-mpi $(BINDIR)/gprof-report-mpi
	$(Q)install -m 644 $(MANUAL) $(MANDIR)
	$(Q)install -m 644 $(GUIDES) $(DOCDIR)
	$(Q)install -m 644 $(B)/completion/bash $(BASHDIR)/gprof-report
	$(Q)install -m 644 $(B)/completion/zsh $(ZSHDIR)/_gprof-report
	$(Q)install -m 644 $(B)/completion/fish $(FISHDIR)/gprof-report.fish
	$(Q)ln -sf gprof-report $(BASHDIR)/gprof-record
	$(Q)ln -sf gprof-report.fish $(FISHDIR)/gprof-record.fish
	$(Q)if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi
	@echo "  now: $(PREFIX)/bin/gprof-record PROGRAM"

uninstall:
	$(call say,REMOVE,$(DESTDIR)$(PREFIX))
	$(Q)rm -f $(LIBDIR)/libgprof.so $(LIBDIR)/libgprof-os.so $(BINDIR)/gprof-report $(BINDIR)/gprof-record $(BINDIR)/gprof-report-mpi \
		$(addprefix $(MANDIR)/,$(notdir $(MANUAL))) $(addprefix $(DOCDIR)/,$(notdir $(GUIDES))) $(COMPLETIONS)
	$(Q)rmdir $(DOCDIR) 2>/dev/null || :
	$(Q)if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

help:
	@echo 'make            build/libgprof.so, build/libgprof-os.so, build/gprof-record and build/gprof-report'
	@echo 'make mpi        build/gprof-report-mpi: gprof-report reduce by the processes of an MPI job'
	@echo 'make sim        the simulated CUDA libraries, in build/sim'
	@echo 'make demo       a training program with and without gprof, then its tables and timeline'
	@echo 'make check      the quick tests, for while you work'
	@echo 'make test       what a change must pass, 15 minutes on two cores'
	@echo 'make test-all   every test that this machine can run, also sanitized and for aarch64'
	@echo 'make bench      costs and speeds, each beside its peer'
	@echo 'make fuzz       searches with libFuzzer, FUZZ_SECONDS=60 a target; see test/fuzz/README.md'
	@echo 'make gpu        build/gpu, to be carried to a machine with a GPU; test/gpu/run runs it there'
	@echo 'make install    PREFIX=/usr/local DESTDIR= ; make uninstall takes it away'
	@echo 'make wheel      a Python wheel with library, commands, manual and module, in build/wheel;'
	@echo '                ARCH=aarch64 builds that for another machine, in build/aarch64/wheel'
	@echo 'make deb        a Debian package of library, commands and manual, in build/deb'
	@echo 'make format     clang-format of the sources'
	@echo 'make clean'
	@echo 'SAN=address,undefined or SAN=thread builds with that sanitizer; V=1 shows commands.'

clean:
	$(Q)rm -rf build

.PHONY: all install uninstall help clean
