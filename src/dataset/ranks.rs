//! Which of several processes this one is.

use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranks {
    pub(crate) rank: u64,
    pub(crate) world_size: u64,
}

/// Name of the rank, name of the world size; the first pair of which one is set counts.
const NAMES: [(&str, &str); 4] = [
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
];

impl Ranks {
    pub(crate) const ALONE: Ranks = Ranks { rank: 0, world_size: 1 };

    pub(crate) fn new(rank: u64, world_size: u64) -> Result<Ranks> {
        if rank >= world_size {
            return Err(Error::invalid(format!("rank {rank} is not below the world size {world_size}")));
        }
        Ok(Ranks { rank, world_size })
    }

    pub(crate) fn from_env(var: impl Fn(&str) -> Option<String>) -> Result<Ranks> {
        let number = |name: &str| -> Result<Option<u64>> {
            let Some(text) = var(name).filter(|text| !text.trim().is_empty()) else { return Ok(None) };
            let parsed = text.trim().parse();
            parsed.map(Some).map_err(|_| Error::invalid(format!("the variable {name} is no number")))
        };
        for (rank_name, size_name) in NAMES {
            match (number(rank_name)?, number(size_name)?) {
                (None, None) => {}
                (Some(rank), Some(size)) => {
                    return Ranks::new(rank, size).map_err(|error| {
                        error.with_help(format!("the variables {rank_name} and {size_name} say so"))
                    });
                }
                (None, Some(0 | 1)) | (Some(0), None) => return Ok(Ranks::ALONE),
                (None, Some(size)) => {
                    return Err(Error::invalid(format!("{size_name} is {size}, but {rank_name} is not set")));
                }
                (Some(rank), None) => {
                    return Err(Error::invalid(format!("{rank_name} is {rank}, but {size_name} is not set")));
                }
            }
        }
        Ok(Ranks::ALONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(vars: &[(&str, &str)]) -> Result<Ranks> {
        Ranks::from_env(|name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_understood() {
        let two_of_eight = Ranks { rank: 2, world_size: 8 };
        assert_eq!(from(&[]).unwrap(), Ranks::ALONE);
        assert_eq!(from(&[("RANK", "2"), ("WORLD_SIZE", "8")]).unwrap(), two_of_eight);
        assert_eq!(from(&[("SLURM_PROCID", "2"), ("SLURM_NTASKS", "8")]).unwrap(), two_of_eight);
        assert_eq!(
            from(&[("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_SIZE", "8")]).unwrap(),
            two_of_eight
        );
        assert_eq!(from(&[("PMI_RANK", "2"), ("PMI_SIZE", "8")]).unwrap(), two_of_eight);
        // torchrun inside a SLURM job of one task a node.
        let nested = [("RANK", "2"), ("WORLD_SIZE", "8"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")];
        assert_eq!(from(&nested).unwrap(), two_of_eight);
        assert_eq!(from(&[("WORLD_SIZE", "1")]).unwrap(), Ranks::ALONE);
    }

    #[test]
    fn half_an_environment_is_refused() {
        for vars in [
            &[("WORLD_SIZE", "8")][..],
            &[("RANK", "3")],
            &[("RANK", "8"), ("WORLD_SIZE", "8")],
            &[("RANK", "-1"), ("WORLD_SIZE", "8")],
            &[("RANK", "x"), ("WORLD_SIZE", "8")],
            &[("SLURM_NTASKS", "4")],
        ] {
            assert!(from(vars).is_err(), "{vars:?}");
        }
    }
}
