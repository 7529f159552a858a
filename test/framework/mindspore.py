# SPDX-License-Identifier: Apache-2.0
"""A small training loop of MindSpore, as a graph."""
import mindspore
import numpy
from mindspore import Tensor, nn

mindspore.set_seed(1)
mindspore.set_context(mode=mindspore.GRAPH_MODE, device_target="CPU")
net = nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dense(16, 1))
train = nn.TrainOneStepCell(
    nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.01)
)
x = numpy.linspace(-1, 1, 256, dtype=numpy.float32).reshape(32, 8)
y = x.sum(1, keepdims=True)
for _ in range(10):
    loss = train(Tensor(x), Tensor(y))
print("loss %.4f" % float(loss.asnumpy()))
