//! Several processes that train one network: after each step their gradients are averaged over TCP, rank 0 in the middle.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use candle_core::backprop::GradStore;
use candle_core::{Device, Tensor, Var};

use crate::Result;

/// How long a rank waits for rank 0 to appear.
const PATIENCE: Duration = Duration::from_secs(60);

/// This process among all.
pub struct Ranks {
    /// The number of this process, below `world`.
    pub rank: u64,
    /// The number of processes.
    pub world: u64,
    /// Rank 0: a line to each other rank, by rank. Others: the line to rank 0. Alone: none.
    lines: Vec<TcpStream>,
}

impl Ranks {
    /// One process.
    pub fn alone() -> Ranks {
        Ranks { rank: 0, world: 1, lines: Vec::new() }
    }

    /// Meets the others at `address` (`HOST:PORT`), where rank 0 listens.
    pub fn meet(rank: u64, world: u64, address: &str) -> Result<Ranks> {
        let mut lines = Vec::new();
        if rank > 0 {
            let mut line = connect(address)?;
            line.write_all(&rank.to_le_bytes())?;
            lines.push(line);
        } else if world > 1 {
            let listener = TcpListener::bind(address)?;
            let mut others = Vec::new();
            for _ in 1..world {
                let mut line = listener.accept()?.0;
                line.set_nodelay(true)?;
                let mut number = [0; 8];
                line.read_exact(&mut number)?;
                others.push((u64::from_le_bytes(number), line));
            }
            others.sort_by_key(|(rank, _)| *rank);
            lines = others.into_iter().map(|(_, line)| line).collect();
        }
        Ok(Ranks { rank, world, lines })
    }

    /// Puts the mean over all ranks in the place of each gradient.
    pub fn average(&mut self, vars: &[Var], gradients: &mut GradStore) -> Result<()> {
        if self.world == 1 {
            return Ok(());
        }
        let mut all = Vec::new();
        for var in vars {
            let gradient = gradients.get(var).ok_or("a weight has no gradient")?;
            all.extend(gradient.flatten_all()?.to_vec1::<f32>()?);
        }
        self.mean(&mut all)?;
        let mut rest = &all[..];
        for var in vars {
            let (values, after) = rest.split_at(var.elem_count());
            gradients.insert(var, Tensor::from_slice(values, var.shape(), &Device::Cpu)?);
            rest = after;
        }
        Ok(())
    }

    fn mean(&mut self, values: &mut [f32]) -> Result<()> {
        if self.rank > 0 {
            send(&mut self.lines[0], values)?;
            values.copy_from_slice(&receive(&mut self.lines[0], values.len())?);
            return Ok(());
        }
        for line in &mut self.lines {
            let others = receive(line, values.len())?;
            for (sum, value) in values.iter_mut().zip(others) {
                *sum += value;
            }
        }
        for value in &mut *values {
            *value /= self.world as f32;
        }
        for line in &mut self.lines {
            send(line, values)?;
        }
        Ok(())
    }
}

fn connect(address: &str) -> Result<TcpStream> {
    let start = Instant::now();
    loop {
        match TcpStream::connect(address) {
            Ok(line) => {
                line.set_nodelay(true)?;
                return Ok(line);
            }
            Err(error) if start.elapsed() > PATIENCE => {
                return Err(format!("rank 0 does not answer at {address}: {error}").into());
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn send(line: &mut TcpStream, values: &[f32]) -> Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Ok(line.write_all(&bytes)?)
}

fn receive(line: &mut TcpStream, len: usize) -> Result<Vec<f32>> {
    let mut bytes = vec![0; 4 * len];
    line.read_exact(&mut bytes)?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect())
}
