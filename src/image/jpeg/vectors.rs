//! Whether the vector kernels are used: the one place that decides, for all of `image`.

use std::sync::LazyLock;

/// Off where the environment says `TFRMAP_SCALAR=1`, read once: to see the scalar twins run on a machine that has vectors.
static AVX2: LazyLock<bool> = LazyLock::new(|| {
    std::env::var_os("TFRMAP_SCALAR").is_none_or(|value| value != "1") && is_x86_feature_detected!("avx2")
});

/// Whether this machine has AVX2, and it is not turned off.
#[inline]
pub(crate) fn avx2() -> bool {
    *AVX2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not a test of its own: what the other one looks at, in a process of its own.
    #[test]
    fn child_tells() {
        if std::env::var_os("TFRMAP_TEST_TARGET").is_some() {
            println!("TOLD {}", avx2());
        }
    }

    /// Else `tests/forced_scalar.rs` would compare vectors with vectors.
    #[test]
    fn the_environment_turns_them_off() {
        let present = is_x86_feature_detected!("avx2");
        for (value, want) in [("1", false), ("0", present), ("", present)] {
            let output = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["image::jpeg::vectors::tests::child_tells", "--exact", "--nocapture"])
                .envs([("TFRMAP_SCALAR", value), ("TFRMAP_TEST_TARGET", "")])
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(told.contains(&format!("TOLD {want}")), "{value:?}: {told}");
        }
    }
}
