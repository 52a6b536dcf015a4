//! `tfrmap-burn TRAIN TEST [--epochs N] [--seed S] [--batch N] [--save DIR]`

use tfrmap_burn::train::{self, Options};
use tfrmap_burn::{Result, data};

const USAGE: &str = "usage: tfrmap-burn TRAIN TEST [--epochs N] [--seed S] [--batch N] [--save DIR]";

fn main() -> Result<()> {
    let mut options = Options::default();
    let mut paths = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(USAGE);
        match arg.as_str() {
            "--epochs" => options.epochs = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--batch" => options.batch = value()?.parse()?,
            "--save" => options.save = Some(value()?),
            _ => paths.push(arg),
        }
    }
    let [train, test] = paths.try_into().map_err(|_| USAGE)?;
    train::run(data::open(&train)?, &data::open(&test)?, &options)?;
    Ok(())
}
