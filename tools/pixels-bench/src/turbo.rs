//! libjpeg-turbo's decoder.

use turbojpeg_sys as tj;

/// A decompressor.
pub struct Turbo(tj::tjhandle);

impl Turbo {
    pub fn new() -> Turbo {
        // SAFETY: no preconditions.
        let handle = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_DECOMPRESS as i32) };
        assert!(!handle.is_null());
        Turbo(handle)
    }

    /// Decodes to RGB, with the accurate inverse transform.
    pub fn decode(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        // SAFETY: the handle is valid, and the output as large as the header says.
        unsafe {
            assert_eq!(tj::tj3DecompressHeader(self.0, bytes.as_ptr(), bytes.len() as _), 0);
            let width = tj::tj3Get(self.0, tj::TJPARAM_TJPARAM_JPEGWIDTH as i32) as usize;
            let height = tj::tj3Get(self.0, tj::TJPARAM_TJPARAM_JPEGHEIGHT as i32) as usize;
            out.resize(width * height * 3, 0);
            let format = tj::TJPF_TJPF_RGB as i32;
            tj::tj3Decompress8(self.0, bytes.as_ptr(), bytes.len() as _, out.as_mut_ptr(), 0, format);
        }
    }
}

impl Drop for Turbo {
    fn drop(&mut self) {
        // SAFETY: the handle is valid and not used again.
        unsafe { tj::tj3Destroy(self.0) }
    }
}
