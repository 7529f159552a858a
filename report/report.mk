# SPDX-License-Identifier: Apache-2.0
# gprof-report, and the library of its modules that tests link.

REPORT_SRC := $(filter-out report/main.c,$(sort $(wildcard report/*.c)))
REPORT_OBJ := $(REPORT_SRC:%.c=$(B)/%.o)
# Traces in other formats become streams by the recorder's own encoder.
REPORT_OBJ += $(addprefix $(B)/collector/,block.o gather.o intern.o table.o)
REPORT_LIBS := -lzstd -lz -liberty -lm -lpthread

# Loops over columns are what the reporter does; they are worth vectorising.
$(B)/report/kineto_in.o $(B)/report/decode.o $(B)/report/stat.o $(B)/report/busy.o $(B)/report/view_kernel.o: CFLAGS += -O3

# One sentence in place of a compiler's: what is missing, and what to do.
$(B)/report/.headers:
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include <zstd.h>\n#include <zlib.h>\n#include <stdio.h>\n#include <uthash.h>\n#include <jsmn.h>\n#include <libiberty/demangle.h>\n' \
		| $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 || { echo \
		'gprof-report needs zstd, zlib, uthash, libiberty and jsmn (Debian: apt-get install libzstd-dev zlib1g-dev uthash-dev libiberty-dev libjsmn-dev)' >&2; \
		exit 1; }
	$(Q)touch $@

$(REPORT_OBJ) $(B)/report/main.o: | $(B)/report/.headers

$(B)/libgprof-report.a: $(REPORT_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/gprof-report: $(B)/report/main.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS)

# The manual has one source.
$(B)/gprof-report.1: report/gprof-report.1.md report/man.awk $(B)/gprof-report
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)LC_ALL=C awk -v report=$(B)/gprof-report -f report/man.awk $< >$@.tmp && mv $@.tmp $@

# Shells complete by the program's own lists; one for another machine cannot print them here.
$(B)/completion/%: $(B)/gprof-report
	$(Q)mkdir -p $(@D)
	$(Q)$< completion $* >$@ 2>/dev/null || echo '# gprof-report completion $* prints it' >$@

all: $(B)/gprof-report $(B)/gprof-report.1 $(B)/completion/bash $(B)/completion/zsh
