//! libjpeg-turbo's decoder.

use std::ffi::CStr;

use tfrmap::image::jpeg::Dct;
use turbojpeg_sys as tj;

/// A decompressor.
pub struct Turbo {
    handle: tj::tjhandle,
    planes: Vec<u8>,
}

impl Turbo {
    pub fn new() -> Turbo {
        // SAFETY: no preconditions.
        let handle = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_DECOMPRESS as i32) };
        assert!(!handle.is_null());
        Turbo { handle, planes: Vec::new() }
    }

    /// Decodes to RGB or gray. Warnings are no errors.
    pub fn decode(&mut self, bytes: &[u8], dct: Dct, gray: bool, out: &mut Vec<u8>) -> Result<(), String> {
        let h = self.handle;
        // SAFETY: the handle is valid, the buffers are as large as the header says.
        unsafe {
            tj::tj3Set(h, tj::TJPARAM_TJPARAM_FASTDCT as i32, i32::from(dct == Dct::Fast));
            if tj::tj3DecompressHeader(h, bytes.as_ptr(), bytes.len() as _) != 0 && !self.warned() {
                return Err(self.error());
            }
            let width = tj::tj3Get(h, tj::TJPARAM_TJPARAM_JPEGWIDTH as i32) as usize;
            let height = tj::tj3Get(h, tj::TJPARAM_TJPARAM_JPEGHEIGHT as i32) as usize;
            let space = tj::tj3Get(h, tj::TJPARAM_TJPARAM_COLORSPACE as i32);
            if tj::tj3Get(h, tj::TJPARAM_TJPARAM_PRECISION as i32) != 8 || tj::tj3Get(h, tj::TJPARAM_TJPARAM_LOSSLESS as i32) != 0 {
                return Err("precision".into());
            }
            let pixels = width.checked_mul(height).filter(|&n| n < 1 << 27).ok_or("too large")?;
            let inks = space == 3 || space == 4;
            let (format, channels, target) = match (inks, gray) {
                (true, true) => return Err("gray of CMYK".into()),
                (true, false) => (tj::TJPF_TJPF_CMYK, 4, &mut self.planes),
                (false, true) => (tj::TJPF_TJPF_GRAY, 1, &mut *out),
                (false, false) => (tj::TJPF_TJPF_RGB, 3, &mut *out),
            };
            target.resize(pixels * channels, 0);
            let status = tj::tj3Decompress8(h, bytes.as_ptr(), bytes.len() as _, target.as_mut_ptr(), 0, format as i32);
            if status != 0 && !self.warned() {
                return Err(self.error());
            }
            if inks {
                let adobe = bytes.windows(9).any(|w| w[0] == 0xff && w[1] == 0xee && w[3] >= 14 && &w[4..] == b"Adobe");
                out.clear();
                for p in self.planes.chunks_exact(4) {
                    let k = u32::from(if adobe { p[3] } else { 255 - p[3] });
                    out.extend(p[..3].iter().map(|&v| (k * u32::from(if adobe { v } else { 255 - v }) / 255) as u8));
                }
            }
        }
        Ok(())
    }

    /// True where the last message was a warning. The library's error code would say so of fatal errors too, once
    /// there was a warning.
    fn warned(&self) -> bool {
        const WARNINGS: [&str; 6] = [
            "Corrupt JPEG data",
            "Premature end of JPEG file",
            "Inconsistent progression sequence",
            "Invalid SOS parameters for sequential JPEG",
            "Unknown Adobe color transform code",
            "Warning:",
        ];
        let message = self.error();
        WARNINGS.iter().any(|w| message.starts_with(w))
    }

    fn error(&self) -> String {
        // SAFETY: the handle is valid, and the string lives as long as it.
        unsafe { CStr::from_ptr(tj::tj3GetErrorStr(self.handle)).to_string_lossy().into_owned() }
    }
}

impl Drop for Turbo {
    fn drop(&mut self) {
        // SAFETY: the handle is valid and not used again.
        unsafe { tj::tj3Destroy(self.handle) }
    }
}

/// How a picture is to be compressed.
pub struct Recipe {
    pub quality: i32,
    pub sampling: i32,
    pub progressive: bool,
    pub optimize: bool,
    pub restart_blocks: i32,
    pub restart_rows: i32,
    /// A `TJCS` number, or -1.
    pub space: i32,
}

/// Compresses RGB pixels.
pub fn compress(pixels: &[u8], width: usize, height: usize, recipe: &Recipe) -> Option<Vec<u8>> {
    // SAFETY: the handle is valid; the library allocates the output, which is copied and freed.
    unsafe {
        let h = tj::tj3Init(tj::TJINIT_TJINIT_COMPRESS as i32);
        let set = |param: u32, value: i32| tj::tj3Set(h, param as i32, value);
        set(tj::TJPARAM_TJPARAM_QUALITY as u32, recipe.quality);
        set(tj::TJPARAM_TJPARAM_SUBSAMP as u32, recipe.sampling);
        set(tj::TJPARAM_TJPARAM_PROGRESSIVE as u32, i32::from(recipe.progressive));
        set(tj::TJPARAM_TJPARAM_OPTIMIZE as u32, i32::from(recipe.optimize));
        set(tj::TJPARAM_TJPARAM_RESTARTBLOCKS as u32, recipe.restart_blocks);
        if recipe.restart_blocks == 0 {
            set(tj::TJPARAM_TJPARAM_RESTARTROWS as u32, recipe.restart_rows);
        }
        if recipe.space >= 0 {
            set(tj::TJPARAM_TJPARAM_COLORSPACE as u32, recipe.space);
        }
        let inks = recipe.space == 3 || recipe.space == 4;
        let widened: Vec<u8>;
        let (format, source) = if inks {
            widened = pixels.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], p[0] ^ p[1]]).collect();
            (tj::TJPF_TJPF_CMYK, &widened[..])
        } else {
            (tj::TJPF_TJPF_RGB, pixels)
        };
        let (mut data, mut size) = (std::ptr::null_mut(), 0);
        let status =
            tj::tj3Compress8(h, source.as_ptr(), width as i32, 0, height as i32, format as i32, &mut data, &mut size);
        let out = (status == 0).then(|| std::slice::from_raw_parts(data, size as usize).to_vec());
        tj::tj3Free(data.cast());
        tj::tj3Destroy(h);
        out
    }
}
