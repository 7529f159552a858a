# SPDX-License-Identifier: Apache-2.0
# Two loaders: one whose workers stay, and one whose workers know who they are.
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Numbers(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        info = get_worker_info()
        return torch.tensor([index, info.id, info.num_workers])


torch.set_num_threads(1)
train = DataLoader(Numbers(), batch_size=2, num_workers=2, persistent_workers=True)
val = DataLoader(Numbers(), batch_size=2, num_workers=1)
for epoch in range(2):
    for batch in train:
        print(epoch, batch.tolist())
for batch in val:
    print(batch.tolist())
