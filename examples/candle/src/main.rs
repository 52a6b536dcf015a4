//! `train TRAIN TEST [--epochs N] [--seed S] [--batch N] [--save DIR] [--save-every STEPS] [--rank R/W] [--meet HOST:PORT]`

use tfrmap_candle::ranks::Ranks;
use tfrmap_candle::train::{self, Options};
use tfrmap_candle::{Result, data};

const USAGE: &str = "usage: train TRAIN TEST [--epochs N] [--seed S] [--batch N] [--save DIR] [--save-every STEPS] \
                     [--rank R/W] [--meet HOST:PORT]";

fn main() -> Result<()> {
    let mut options = Options::default();
    let (mut rank, mut world, mut meet) = (0, 1, "127.0.0.1:29400".to_owned());
    let mut paths = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(USAGE);
        match arg.as_str() {
            "--epochs" => options.epochs = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--batch" => options.batch = value()?.parse()?,
            "--save" => options.save = Some(value()?),
            "--save-every" => options.save_every = value()?.parse::<u64>()?.max(1),
            "--meet" => meet = value()?,
            "--rank" => {
                let text = value()?;
                let (r, w) = text.split_once('/').ok_or(USAGE)?;
                (rank, world) = (r.parse()?, w.parse()?);
            }
            _ => paths.push(arg),
        }
    }
    let [train, test] = paths.try_into().map_err(|_| USAGE)?;
    if rank >= world {
        return Err(USAGE.into());
    }
    let (train, test) = (data::open(&train)?, data::open(&test)?);
    let mut ranks = Ranks::meet(rank, world, &meet)?;
    train::run(train, &test, &options, &mut ranks)?;
    Ok(())
}
