//! What a run leaves behind to go on from after a kill, at any moment of which a whole pair of weights and place in the data is
//! there.

use std::fs;
use std::path::{Path, PathBuf};

use candle_nn::VarMap;
use serde_json::{Value, json};
use tfrmap::State;

use crate::Result;

/// A folder with the weights and, in `last.json`, their name and the [`State`] that belongs to them.
pub struct Checkpoint {
    folder: PathBuf,
    last: Option<String>,
}

impl Checkpoint {
    /// In this folder, which is made where it is missing.
    pub fn new(folder: impl AsRef<Path>) -> Result<Checkpoint> {
        fs::create_dir_all(&folder)?;
        Ok(Checkpoint { folder: folder.as_ref().to_owned(), last: None })
    }

    /// The path of the weights that were saved or loaded last.
    pub fn weights(&self) -> Option<PathBuf> {
        self.last.as_ref().map(|name| self.folder.join(name))
    }

    // region: save
    /// Saves weights and place. The rename makes them count, both at once.
    pub fn save(&mut self, weights: &VarMap, state: &State) -> Result<()> {
        let name = format!("weights-{}-{}.safetensors", state.epoch(), state.position());
        weights.save(self.folder.join(&name))?;
        let last = json!({ "weights": name, "state": state.to_json() });
        fs::write(self.folder.join("last.json.new"), last.to_string())?;
        fs::rename(self.folder.join("last.json.new"), self.folder.join("last.json"))?;
        if let Some(before) = self.last.replace(name.clone()).filter(|before| *before != name) {
            fs::remove_file(self.folder.join(before))?;
        }
        Ok(())
    }

    /// Loads the weights and gives the place, where something was saved.
    pub fn load(&mut self, weights: &mut VarMap) -> Result<Option<State>> {
        let Ok(text) = fs::read_to_string(self.folder.join("last.json")) else { return Ok(None) };
        let last: Value = serde_json::from_str(&text)?;
        let name = last["weights"].as_str().ok_or("last.json names no weights")?;
        weights.load(self.folder.join(name))?;
        self.last = Some(name.to_owned());
        Ok(Some(State::from_json(last["state"].as_str().ok_or("last.json has no state")?)?))
    }
    // endregion
}
