//! A small convolutional network for pictures of 8 x 8, and one step of its training.

use candle_core::{D, DType, Device, Module, Tensor, Var};
use candle_nn::{Conv2d, Conv2dConfig, Linear, Optimizer, SGD, VarBuilder, VarMap, conv2d, linear, loss};
use tfrmap::Batch;

use crate::Result;
use crate::data::tensors;
use crate::ranks::Ranks;

const CLASSES: usize = 10;
const LEARNING_RATE: f64 = 0.1;

/// Two convolutions, a pooling and two dense layers: 38,282 weights.
struct Net {
    first: Conv2d,
    second: Conv2d,
    hidden: Linear,
    out: Linear,
}

impl Net {
    fn new(vars: VarBuilder) -> candle_core::Result<Net> {
        let padded = Conv2dConfig { padding: 1, ..Default::default() };
        Ok(Net {
            first: conv2d(1, 16, 3, padded, vars.pp("first"))?,
            second: conv2d(16, 32, 3, padded, vars.pp("second"))?,
            hidden: linear(32 * 4 * 4, 64, vars.pp("hidden"))?,
            out: linear(64, CLASSES, vars.pp("out"))?,
        })
    }
}

impl Module for Net {
    fn forward(&self, images: &Tensor) -> candle_core::Result<Tensor> {
        let x = self.first.forward(images)?.relu()?;
        let x = self.second.forward(&x)?.relu()?.max_pool2d(2)?;
        let x = self.hidden.forward(&x.flatten_from(1)?)?.relu()?;
        self.out.forward(&x)
    }
}

/// The network with its weights and its optimizer: gradient descent without a memory, so that the weights are all there is to
/// save.
pub struct Trainer {
    /// The weights by name.
    pub weights: VarMap,
    /// In the order of their names, which is the same in every process.
    vars: Vec<Var>,
    net: Net,
    optimizer: SGD,
}

impl Trainer {
    /// New weights drawn from `seed`, the same on every run.
    pub fn new(seed: u64) -> Result<Trainer> {
        let weights = VarMap::new();
        let net = Net::new(VarBuilder::from_varmap(&weights, DType::F32, &Device::Cpu))?;
        let mut named: Vec<(String, Var)> =
            weights.data().lock().unwrap().iter().map(|(name, var)| (name.clone(), var.clone())).collect();
        named.sort_by(|a, b| a.0.cmp(&b.0));
        let vars: Vec<Var> = named.into_iter().map(|(_, var)| var).collect();
        initialise(&vars, seed)?;
        let optimizer = SGD::new(vars.clone(), LEARNING_RATE)?;
        Ok(Trainer { weights, vars, net, optimizer })
    }

    /// One step on a batch, together with all ranks; gives this rank's loss.
    pub fn step(&mut self, batch: Batch, ranks: &mut Ranks) -> Result<f32> {
        let (images, labels) = tensors(batch)?;
        let loss = loss::cross_entropy(&self.net.forward(&images)?, &labels)?;
        let mut gradients = loss.backward()?;
        ranks.average(&self.vars, &mut gradients)?;
        self.optimizer.step(&gradients)?;
        Ok(loss.to_scalar()?)
    }

    /// How many rows of a batch get their right label.
    pub fn correct(&self, batch: Batch) -> Result<u32> {
        let (images, labels) = tensors(batch)?;
        let guess = self.net.forward(&images)?.argmax(D::Minus1)?.to_dtype(DType::I64)?;
        Ok(guess.eq(&labels)?.to_dtype(DType::U32)?.sum_all()?.to_scalar()?)
    }
}

/// Weights uniform within sqrt(6 / fan in) (He), biases 0: from a generator of our own, as candle's takes no seed on the CPU.
fn initialise(vars: &[Var], seed: u64) -> Result<()> {
    let mut random = Random(seed);
    for var in vars {
        let fan_in: usize = var.dims().iter().skip(1).product();
        let bound = if var.dims().len() == 1 { 0.0 } else { (6.0 / fan_in as f32).sqrt() };
        let values = (0..var.elem_count()).map(|_| bound * (2.0 * random.uniform() - 1.0)).collect();
        var.set(&Tensor::from_vec::<_, f32>(values, var.shape(), &Device::Cpu)?)?;
    }
    Ok(())
}

/// Splitmix64.
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next number in 0..1.
    pub fn uniform(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// The next number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }
}
