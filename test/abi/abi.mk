# SPDX-License-Identifier: Apache-2.0
# Our declarations of CUDA and CUPTI against an installed toolkit; 77 where there is none.

check-abi:
	$(Q)CC='$(CC)' test/abi/run.sh || { r=$$?; [ $$r = 77 ]; }

.PHONY: check-abi
