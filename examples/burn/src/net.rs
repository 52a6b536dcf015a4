//! A small convolutional network for pictures of 8 x 8.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{Initializer, Linear, LinearConfig, PaddingConfig2d};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor};

const CLASSES: usize = 10;
const LEARNING_RATE: f64 = 0.1;

/// Two convolutions, a pooling and two dense layers: 38,282 weights.
#[derive(Module, Debug)]
pub struct Net {
    first: Conv2d,
    second: Conv2d,
    pool: MaxPool2d,
    hidden: Linear,
    out: Linear,
}

impl Net {
    /// New weights, drawn from the device's generator.
    pub fn new(device: &Device) -> Net {
        // As He has it for layers that a rectifier follows; burn's default is narrower.
        let he = Initializer::KaimingUniform { gain: 2f64.sqrt(), fan_out_only: false };
        let conv = |channels| {
            Conv2dConfig::new(channels, [3, 3])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                .with_initializer(he.clone())
                .init(device)
        };
        let linear = |from, to| LinearConfig::new(from, to).with_initializer(he.clone()).init(device);
        Net {
            first: conv([1, 16]),
            second: conv([16, 32]),
            pool: MaxPool2dConfig::new([2, 2]).init(),
            hidden: linear(32 * 4 * 4, 64),
            out: linear(64, CLASSES),
        }
    }

    /// Logits `[rows, 10]` of pictures `[rows, 1, 8, 8]`.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let x = relu(self.first.forward(images));
        let x = self.pool.forward(relu(self.second.forward(x)));
        let x = relu(self.hidden.forward(x.flatten(1, 3)));
        self.out.forward(x)
    }

    /// The network after one step, and the loss before it.
    pub fn step(
        self,
        images: Tensor<4>,
        labels: Tensor<1, Int>,
        optimizer: &mut ModuleOptimizer,
    ) -> (Net, f32) {
        let loss = CrossEntropyLossConfig::new().init(&labels.device()).forward(self.forward(images), labels);
        let gradients = GradientsParams::from_grads(loss.backward(), &self);
        (optimizer.step(LEARNING_RATE, self, gradients), loss.into_scalar())
    }

    /// How many pictures get their right label.
    pub fn correct(&self, images: Tensor<4>, labels: Tensor<1, Int>) -> i64 {
        let guess = self.forward(images).argmax(1).flatten::<1>(0, 1);
        guess.equal(labels).int().sum().into_scalar()
    }
}
