#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What goes wrong around the recorder, and how much it takes at most: lines of TAP.
here=$(dirname "$0")
status=0
for part in bounds calls disk; do
	bash "$here/$part.sh" || status=1
done
exit $status
