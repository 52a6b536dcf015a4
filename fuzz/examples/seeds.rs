//! Writes the inputs that each target begins with: `cargo run --example seeds -- FOLDER` makes `FOLDER/TARGET/seed-N`.

use std::fs;
use std::path::Path;

fn main() {
    let out = std::env::args_os().nth(1).expect("a folder to write to");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    for target in tfrmap_fuzz::TARGETS {
        let folder = Path::new(&out).join(target.name);
        fs::create_dir_all(&folder).unwrap();
        let seeds = (target.seeds)(&data);
        println!("{}: {} seeds", target.name, seeds.len());
        for (i, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{i}")), seed).unwrap();
        }
    }
}
