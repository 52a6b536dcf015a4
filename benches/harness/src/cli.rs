//! The commands.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Parser, Subcommand};

use crate::Failure;
use crate::check;
use crate::data::DataSet;
use crate::definition::{self, Definition};
use crate::engine;
use crate::peers::Peers;
use crate::report;
use crate::run;
use crate::settings::Settings;

/// Benchmarks of tfrmap against its peers.
#[derive(Debug, Parser)]
#[command(name = "tfrmap-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Commands,
}

#[derive(Debug, Subcommand)]
enum Commands {
    /// Make data sets (`run` makes those it needs by itself).
    Data {
        /// photo, photo-420, tensor, label.
        #[arg(default_value = "photo")]
        sets: Vec<String>,
        /// Take the JPEG files of this folder instead of making pictures.
        #[arg(long)]
        images: Option<PathBuf>,
        #[command(flatten)]
        places: Places,
    },
    /// Prepare the environment of a peer; without a name, list them.
    Setup {
        /// tf, dali, py, torch, ffcv, libjpeg-turbo, tfrecord-crate.
        peers: Vec<String>,
        #[command(flatten)]
        places: Places,
    },
    /// List the workloads.
    List {
        #[command(flatten)]
        places: Places,
    },
    /// Run workloads and print their tables.
    Run {
        /// Names of definitions; `all` for every one.
        #[arg(default_value = "main")]
        names: Vec<String>,
        /// Runs of each engine, instead of the definition's number.
        #[arg(long)]
        repetitions: Option<u32>,
        /// Only engines whose name contains this.
        #[arg(long)]
        only: Option<String>,
        /// Ask the system for the highest priority, so that other work disturbs less (root only).
        #[arg(long)]
        priority: bool,
        #[command(flatten)]
        places: Places,
    },
    /// Write docs/benchmarks.md with its charts, and the marked part of README.md, from the results.
    Report {
        /// Folder for benchmarks.md; charts go to its `img`.
        #[arg(long, default_value = "docs")]
        docs: PathBuf,
        /// File whose part between the benchmark marks is replaced.
        #[arg(long)]
        readme: Option<PathBuf>,
        #[command(flatten)]
        places: Places,
    },
    /// Print the checksum of N records delivered in each of some epochs, for a definition.
    Checksum { records: u64, epochs: u64 },
    /// The engine of tfrmap itself, started by `run`.
    #[command(hide = true)]
    Engine { job: String },
}

#[derive(Debug, Args)]
struct Places {
    /// Folder of the data sets.
    #[arg(long = "data", default_value = "target/bench/data")]
    data: PathBuf,
    /// Folder for what a run leaves behind.
    #[arg(long, default_value = "target/bench/work")]
    work: PathBuf,
    /// File of results (JSON lines, appended to).
    #[arg(long, default_value = "target/bench/results.jsonl")]
    results: PathBuf,
    /// Records of each data set, instead of the usual number (a quick look).
    #[arg(long)]
    records: Option<u64>,
    /// Folder of the workloads' definitions, instead of the harness's own.
    #[arg(long)]
    definitions: Option<PathBuf>,
    /// Folders of peer environments, separated by colons; new ones are made in the first.
    #[arg(long = "peers", env = "TFRMAP_PEERS", default_value = "target/peers")]
    peer_folders: String,
}

impl Places {
    fn definitions(&self) -> Result<Vec<Definition>, Failure> {
        let own = home().join("definitions");
        definition::read_all(self.definitions.as_deref().unwrap_or(&own))
    }

    fn peers(&self) -> Peers {
        Peers::new(env::split_paths(&self.peer_folders).collect(), home().join("engines"))
    }
}

/// The harness's own folder: definitions and engine scripts are read from the sources.
fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Does what the command line says.
///
/// # Errors
/// One sentence for the person at the terminal.
pub fn main() -> Result<(), Failure> {
    match Cli::parse().command {
        Commands::Data { sets, images, places } => data(&sets, images.as_deref(), &places),
        Commands::Setup { peers, places } => {
            for peer in &peers {
                places.peers().setup(peer)?;
            }
            if peers.is_empty() {
                print!("{}", places.peers().list());
            }
            Ok(())
        }
        Commands::List { places } => {
            for definition in places.definitions()? {
                println!("{:<14} {}", definition.name, definition.title);
            }
            Ok(())
        }
        Commands::Run { names, repetitions, only, priority, places } => {
            if priority && env::var_os("TFRMAP_BENCH_PRIORITY").is_none() {
                return at_priority();
            }
            run_all(&names, repetitions, only, &places)
        }
        Commands::Report { docs, readme, places } => {
            report::write(&places.definitions()?, &places.results, &docs, readme.as_deref())
        }
        Commands::Checksum { records, epochs } => {
            println!("{}", check::expected_checksum(records, epochs));
            Ok(())
        }
        Commands::Engine { job } => engine::main(&job),
    }
}

fn data(sets: &[String], images: Option<&Path>, places: &Places) -> Result<(), Failure> {
    for name in sets {
        let set = match images {
            Some(images) => DataSet::from_images(name, &places.data, places.records, images)?,
            None => DataSet::ready(name, &places.data, places.records)?,
        };
        println!(
            "{}: {} records, {:.1} MB of payloads, {:.2} bits a pixel, {}",
            set.folder.display(),
            set.records,
            set.payload_bytes as f64 / 1e6,
            set.bits_per_pixel,
            set.origin
        );
    }
    Ok(())
}

fn run_all(
    names: &[String],
    repetitions: Option<u32>,
    only: Option<String>,
    places: &Places,
) -> Result<(), Failure> {
    let all = places.definitions()?;
    let settings = Settings {
        peers: places.peers(),
        data: places.data.clone(),
        work: std::path::absolute(&places.work).map_err(|e| Failure::new(e.to_string()))?,
        results: places.results.clone(),
        repetitions,
        records: places.records,
        only,
    };
    if let Some(unknown) = names.iter().find(|n| *n != "all" && !all.iter().any(|d| d.name == **n)) {
        return Err(Failure::new(format!(
            "no definition is named {unknown:?}; `tfrmap-bench list` shows them"
        )));
    }
    for definition in all.iter().filter(|d| names.iter().any(|n| *n == d.name || n == "all")) {
        let records = run::run(definition, &settings)?;
        println!("\n{}", report::table(definition, &records));
    }
    Ok(())
}

/// Starts this program again in a session of its own (so that Linux schedules it as a group) with the highest priority.
fn at_priority() -> Result<(), Failure> {
    let own = env::current_exe().map_err(|e| Failure::new(e.to_string()))?;
    let status = Command::new("setsid")
        .args([
            "--wait",
            "sh",
            "-c",
            "echo -20 > /proc/self/autogroup 2>/dev/null; exec nice -n -20 \"$@\"",
            "sh",
        ])
        .arg(own)
        .args(env::args_os().skip(1))
        .env("TFRMAP_BENCH_PRIORITY", "1")
        .status()
        .map_err(|e| Failure::new(format!("setsid: {e}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("the run ended with {status}"))) }
}
