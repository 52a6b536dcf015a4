//! How the process of an engine is started.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use serde_json::Value;

use crate::definition::Engine;
use crate::peers::Peers;

/// The program and its first arguments; the job comes last.
///
/// # Errors
/// What is missing and how to get it.
pub fn argv(engine: &Engine, peers: &Peers) -> Result<Vec<OsString>, String> {
    if let Some(command) = &engine.command {
        return Ok(command.iter().map(OsString::from).collect());
    }
    if engine.peer == "tfrmap" {
        let own = env::current_exe().map_err(|e| format!("this program's own path: {e}"))?;
        return Ok(vec![own.into(), "engine".into()]);
    }
    let program = peers.program(&engine.peer)?;
    let script = engine.script.as_ref().map(|script| peers.engines().join(script));
    if let Some(script) = script.as_ref().filter(|script| !script.exists()) {
        return Err(format!("{} is not there", script.display()));
    }
    Ok([Some(program.into()), script.map(OsString::from)].into_iter().flatten().collect())
}

/// Sets up the environment variables: the job once more for engines without a JSON parser, quiet peers, and none of the
/// variables that change how fast numeric libraries are.
pub fn environment(command: &mut Command, job: &Value) {
    for (key, _) in env::vars().filter(|(key, _)| key.starts_with("OPENBLAS_") || key.starts_with("OMP_")) {
        command.env_remove(key);
    }
    command.env("TF_CPP_MIN_LOG_LEVEL", "3").env("PYTHONDONTWRITEBYTECODE", "1");
    let Some(fields) = job.as_object() else { return };
    for (key, value) in fields {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                let items: Vec<String> =
                    items.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)).collect();
                items.join("\n")
            }
            other => other.to_string(),
        };
        command.env(format!("JOB_{}", key.to_uppercase()), text);
    }
}
