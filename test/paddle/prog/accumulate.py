# SPDX-License-Identifier: Apache-2.0
"""Two groups of parameters, Adam with a clip for each, gradients of three batches for a step, activations computed
again, no loader."""
import paddle
from paddle import nn
from paddle.distributed.fleet.utils import recompute

paddle.seed(1)
first, second = nn.Linear(16, 32), nn.Linear(32, 4)
optimizer = paddle.optimizer.Adam(
    learning_rate=paddle.optimizer.lr.StepDecay(0.01, 2),
    parameters=[{"params": first.parameters()}, {"params": second.parameters(), "learning_rate": 0.5}],
    grad_clip=nn.ClipGradByGlobalNorm(1.0))
for step in range(4):
    for part in range(3):
        x = paddle.rand([8, 16])
        x.stop_gradient = False
        loss = (second(recompute(nn.Sequential(first, nn.ReLU()), x)) ** 2).mean()
        loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(step, "%.4f" % float(loss))
