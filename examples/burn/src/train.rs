//! A whole training run.

use std::fs;
use std::path::Path;
use std::time::Instant;

use burn::module::Module;
use burn::optim::SgdConfig;
use burn::tensor::Device;
use tfrmap::{Dataset, Remainder, State};

use crate::Result;
use crate::data::tensors;
use crate::net::Net;

/// What to do.
pub struct Options {
    /// The number of epochs.
    pub epochs: u64,
    /// The seed of weights and order.
    pub seed: u64,
    /// Records in a step.
    pub batch: usize,
    /// The folder to save to after each epoch, and to resume from.
    pub save: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { epochs: 12, seed: 1, batch: 32, save: None }
    }
}

/// Trains on one data set and evaluates on another after each epoch.
pub fn run(train: Dataset, test: &Dataset, options: &Options) -> Result<Net> {
    let device = Device::flex().autodiff();
    device.seed(options.seed);
    let mut net = Net::new(&device);
    let mut optimizer = SgdConfig::new().init();
    // region: run
    let mut batches = train
        .shuffled(options.seed)
        .epochs(0..options.epochs)
        .batches(options.batch)
        .remainder(Remainder::Drop);
    if let Some(folder) = &options.save
        && let Some((weights, state)) = last(folder)?
    {
        net = net.load_file(weights);
        batches = batches.resume(&state)?;
    }
    let mut start = Instant::now();
    while let Some(batch) = batches.next().transpose()? {
        let epoch = batch.epoch();
        let (images, labels) = tensors(batch, &device)?;
        let loss;
        (net, loss) = net.step(images, labels, &mut optimizer);
        if batches.steps_left()? == 0 {
            let accuracy = 100.0 * accuracy(&net, test, &device)?;
            let seconds = start.elapsed().as_secs_f64();
            println!("epoch {epoch}: loss {loss:.3}, test accuracy {accuracy:.1} %, {seconds:.2} s");
            start = Instant::now();
            if let Some(folder) = &options.save {
                save(folder, &net, &batches.state())?;
            }
        }
    }
    // endregion
    Ok(net)
}

/// The share of a data set that gets its right label.
pub fn accuracy(net: &Net, test: &Dataset, device: &Device) -> Result<f64> {
    let mut correct = 0;
    for batch in test.clone().batches(256) {
        let (images, labels) = tensors(batch?, device)?;
        correct += net.correct(images, labels);
    }
    Ok(correct as f64 / test.len() as f64)
}

/// Weights under the epoch's name, then the place in the data: the rename makes both count at once.
fn save(folder: &str, net: &Net, state: &State) -> Result<()> {
    let folder = Path::new(folder);
    fs::create_dir_all(folder)?;
    net.clone().save_file(folder.join(weights(state)))?;
    fs::write(folder.join("state.json.new"), state.to_json())?;
    Ok(fs::rename(folder.join("state.json.new"), folder.join("state.json"))?)
}

/// The weights and the place that were saved last.
fn last(folder: &str) -> Result<Option<(std::path::PathBuf, State)>> {
    let Ok(text) = fs::read_to_string(Path::new(folder).join("state.json")) else {
        return Ok(None);
    };
    let state = State::from_json(&text)?;
    Ok(Some((Path::new(folder).join(weights(&state)), state)))
}

fn weights(state: &State) -> String {
    format!("weights-{}.bpk", state.epoch())
}
