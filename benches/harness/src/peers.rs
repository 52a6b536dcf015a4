//! The environments peers run in: where they are, what is in them, how to make one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;

/// How an environment is made.
#[derive(Debug, Clone, Copy)]
enum Recipe {
    /// A Python virtual environment with these packages.
    Pip(&'static [&'static str]),
    /// `engines/FILE`, compiled by the C compiler of the system with these libraries.
    C { source: &'static str, libraries: &'static [&'static str] },
    /// A Cargo project below `engines/`, with its own lock file so that the library's dependencies stay what they are.
    Cargo { folder: &'static str },
}

/// Every peer: its name for `setup`, what it is, and its recipe. Versions are fixed so that figures can be repeated.
const PEERS: &[(&str, &str, Recipe)] = &[
    (
        "tf",
        "TensorFlow: tf.data, TF 1 queues, and the reference pixels",
        Recipe::Pip(&["tensorflow-cpu==2.21.0", "numpy==2.4.6"]),
    ),
    ("dali", "NVIDIA DALI on the CPU", Recipe::Pip(&["nvidia-dali-cuda120==2.4.0", "numpy==2.4.6"])),
    (
        "py",
        "Grain + ArrayRecord, with OpenCV",
        Recipe::Pip(&[
            "grain==0.2.18",
            "array_record==0.8.6",
            "tfrecord==1.14.6",
            "numpy==2.4.6",
            "opencv-python-headless==5.0.0.93",
        ]),
    ),
    (
        "torch",
        "PyTorch + tfrecord, and WebDataset, with OpenCV (several GB)",
        Recipe::Pip(&[
            "torch==2.15.0",
            "tfrecord==1.14.6",
            "webdataset==1.0.2",
            "numpy==2.1.3",
            "opencv-python-headless==5.0.0.93",
        ]),
    ),
    (
        "ffcv",
        "FFCV (needs a C++ compiler, OpenCV and libturbojpeg headers, and several GB)",
        Recipe::Pip(&[
            "torch==2.15.0",
            "numba==0.68.1",
            "numpy==2.1.3",
            "tfrecord==1.14.6",
            "opencv-python-headless==5.0.0.93",
            "ffcv==1.0.2",
        ]),
    ),
    (
        "libjpeg-turbo",
        "the bare decoder (needs gcc and libjpeg-turbo's headers)",
        Recipe::C { source: "floor.c", libraries: &["-ljpeg", "-lpthread"] },
    ),
    ("tfrecord-crate", "the `tfrecord` crate", Recipe::Cargo { folder: "tfrecord-crate" }),
];

/// Where environments are looked for.
#[derive(Debug, Clone)]
pub struct Peers {
    roots: Vec<PathBuf>,
    engines: PathBuf,
}

impl Peers {
    /// Environments below any of `roots` (new ones are made in the first), engine sources in `engines`.
    pub fn new(roots: Vec<PathBuf>, engines: PathBuf) -> Peers {
        Peers { roots, engines }
    }

    /// The folder of engine sources.
    pub fn engines(&self) -> &Path {
        &self.engines
    }

    /// The program that runs engines of `peer`: a Python interpreter, or the engine itself.
    ///
    /// # Errors
    /// What is missing and how to get it.
    pub fn program(&self, peer: &str) -> Result<PathBuf, String> {
        let known = PEERS.iter().find(|(name, ..)| *name == peer);
        let (_, _, recipe) = known.ok_or_else(|| format!("no peer is named {peer:?}"))?;
        let inside = match recipe {
            Recipe::Pip(_) => "bin/python",
            Recipe::C { .. } => "engine",
            Recipe::Cargo { .. } => "release/engine",
        };
        let places = self.roots.iter().flat_map(|root| [root.join(peer), root.join("venv").join(peer)]);
        places
            .map(|folder| folder.join(inside))
            .find(|program| program.exists())
            .ok_or_else(|| format!("not set up: `tfrmap-bench setup {peer}` prepares it"))
    }

    /// Makes the environment of `peer` in the first root.
    ///
    /// # Errors
    /// The step that failed.
    pub fn setup(&self, peer: &str) -> Result<(), Failure> {
        let known = PEERS.iter().find(|(name, ..)| *name == peer);
        let names: Vec<&str> = PEERS.iter().map(|(name, ..)| *name).collect();
        let (_, _, recipe) = known.ok_or_else(|| {
            Failure::new(format!("no peer is named {peer:?}; there are: {}", names.join(", ")))
        })?;
        if let Ok(program) = self.program(peer) {
            println!("{peer}: already there ({})", program.display());
            return Ok(());
        }
        let root = self.roots.first().ok_or_else(|| Failure::new("no folder for peers is named"))?;
        let folder = root.join(peer);
        fs::create_dir_all(&folder).map_err(|e| Failure::io(&folder, &e))?;
        // pip and cargo run inside the folder's parent: paths must not depend on where this was started.
        let folder = folder.canonicalize().map_err(|e| Failure::io(&folder, &e))?;
        match recipe {
            Recipe::Pip(packages) => {
                step(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
                let pip = folder.join("bin/pip");
                step(Command::new(pip).args(["install", "--quiet"]).args(*packages))
            }
            Recipe::C { source, libraries } => step(
                Command::new("gcc")
                    .args(["-O3", "-march=native", "-o"])
                    .arg(folder.join("engine"))
                    .arg(self.engines.join(source))
                    .args(*libraries),
            ),
            Recipe::Cargo { folder: project } => step(
                Command::new("cargo")
                    .args(["build", "--release", "--locked", "--manifest-path"])
                    .arg(self.engines.join(project).join("Cargo.toml"))
                    .arg("--target-dir")
                    .arg(&folder),
            ),
        }
    }

    /// One line a peer: name, what it is, and whether it is there.
    pub fn list(&self) -> String {
        let line = |(name, about, _): &(&str, &str, Recipe)| {
            let there = if self.program(name).is_ok() { "ready" } else { "missing" };
            format!("{name:<15} {there:<8} {about}\n")
        };
        PEERS.iter().map(line).collect()
    }
}

fn step(command: &mut Command) -> Result<(), Failure> {
    println!("{}", format!("{command:?}").replace('"', ""));
    let status = command.status().map_err(|e| Failure::new(format!("{command:?}: {e}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{command:?}: {status}"))) }
}
