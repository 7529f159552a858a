#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# first_screens.sh: writes docs/first-screens.md: what gprof-report prints first, at 80 and 120 columns, for the demo
# (`make demo` records it), a PyTorch training on the CPU ($PYTHON, default python3, has torch), and the traces in $GPROF_TRACES.
set -eu
root=$(realpath "$(dirname "$0")/..")
B=$(realpath "$root/${B:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -d "$B/demo/gprof-dump" ] || { echo "no demo: make demo records it"; exit 1; }
[ -d "${GPROF_TRACES:-}" ] || { echo "GPROF_TRACES names no folder of traces"; exit 1; }

cat >"$work/train.py" <<'END'
import torch

class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 640
    def __getitem__(self, i):
        return torch.randn(3, 32, 32), i % 10

model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3), torch.nn.ReLU(),
                            torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(), torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for images, labels in torch.utils.data.DataLoader(Images(), batch_size=32):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
END
(cd "$work" && GPROF_TORCH=shapes GPROF_DIR=$work/torch OMP_NUM_THREADS=1 LD_PRELOAD=$B/libgprof.so "${PYTHON:-python3}" train.py 2>/dev/null)

# screen TITLE PATH
screen()
{
	printf '\n## %s\n' "$1"
	for columns in 80 120; do
		printf '\n%s columns:\n\n```\n' $columns
		COLUMNS=$columns "$B/gprof-report" --view headline "$2" 2>/dev/null | sed '/^$/d'
		printf '```\n'
	done
}

{
	cat <<'END'
# First screens

`gprof-report DIR` begins with these lines; [reading.md](reading.md#the-first-screen) explains them. `test/first_screens.sh` writes this page. The traces are by
PyTorch's profiler on real GPUs, the demo runs on the simulator.
END
	screen "The demo" "$B/demo/gprof-dump"
	screen "PyTorch on the CPU" "$work/torch"
	screen "DLRM on eight V100" "$GPROF_TRACES/dlrm_v100_8ranks"
	screen "ResNet-50 on a V100, no loader workers" "$GPROF_TRACES/resnet50_nw0_v100.json.gz"
	screen "DistributedDataParallel on V100, one of two ranks" "$GPROF_TRACES/ddp_v100_2ranks_rank1.json.gz"
	screen "Training on A100, one of eight ranks" "$GPROF_TRACES/overlap_a100_8ranks_rank3.json.gz"
	screen "Inference on an H100" "$GPROF_TRACES/qwen_h100.json.gz"
} >"$root/docs/first-screens.md"
