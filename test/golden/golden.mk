# SPDX-License-Identifier: Apache-2.0
golden-check: $(B)/gprof-report
	$(Q)test/golden/run.sh $<

.PHONY: golden-check
