//! gzip and zlib streams, of any number of members, with errors that tell a cut from damage.

use std::io::{self, BufRead, Read};

use ::flate2::{Crc, Decompress, FlushDecompress, Status};

/// The container around the deflate streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Gzip,
    Zlib,
}

/// Inflates a whole stream: member after member to its end.
///
/// Errors: `UnexpectedEof` where it is cut, `InvalidData` where it is damaged or where something else follows it.
pub(super) struct Inflate<R> {
    input: R,
    container: Container,
    inflater: Decompress,
    crc: Crc,
    adler: Adler,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Header { first: bool },
    Body,
    Trailer,
    End,
}

impl<R: BufRead> Inflate<R> {
    pub(super) fn new(input: R, container: Container) -> Inflate<R> {
        let state = State::Header { first: true };
        Inflate {
            input,
            container,
            inflater: Decompress::new(false),
            crc: Crc::new(),
            adler: Adler(1),
            state,
        }
    }

    /// Steps over a member's header, or finds that the stream is over.
    fn begin(&mut self, first: bool) -> io::Result<()> {
        let head = self.input.fill_buf()?;
        let Some(&byte) = head.first() else {
            self.state = State::End;
            return if first { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) };
        };
        self.state = State::Body;
        self.inflater.reset(false);
        (self.crc, self.adler) = (Crc::new(), Adler(1));
        match self.container {
            // A zlib stream follows a zlib stream where its first byte can be one; TensorFlow reads nothing after it.
            Container::Zlib if first || byte & 0x0f == 8 && byte >> 4 <= 7 => self.zlib_header(),
            Container::Gzip if first || byte == 0x1f => self.gzip_header(),
            _ => {
                self.state = State::End;
                self.padding()
            }
        }
    }

    /// Zero bytes after the last member are padding; anything else is not silently left out.
    fn padding(&mut self) -> io::Result<()> {
        loop {
            let rest = self.input.fill_buf()?;
            let len = rest.len();
            if len == 0 {
                return Ok(());
            }
            if rest.iter().any(|&byte| byte != 0) {
                if self.container == Container::Zlib {
                    log::warn!("bytes after a zlib stream are ignored");
                    return Ok(());
                }
                return Err(damaged("bytes that are no gzip member follow the gzip stream"));
            }
            self.input.consume(len);
        }
    }

    fn zlib_header(&mut self) -> io::Result<()> {
        let mut header = [0; 2];
        self.input.read_exact(&mut header)?;
        let [method, flags] = header;
        let whole = method & 0x0f == 8 && (u16::from(method) << 8 | u16::from(flags)).is_multiple_of(31);
        if whole && flags & 0x20 == 0 { Ok(()) } else { Err(damaged("a damaged zlib header")) }
    }

    fn gzip_header(&mut self) -> io::Result<()> {
        const HEADER_CRC: u8 = 2;
        const EXTRA: u8 = 4;
        const NAME_AND_COMMENT: u8 = 8 | 16;
        let mut fixed = [0; 10];
        self.input.read_exact(&mut fixed)?;
        let [0x1f, 0x8b, 8, flags, ..] = fixed else { return Err(damaged("a damaged gzip header")) };
        if flags & EXTRA != 0 {
            let mut len = [0; 2];
            self.input.read_exact(&mut len)?;
            self.skip(u64::from(u16::from_le_bytes(len)))?;
        }
        for _ in 0..(flags & NAME_AND_COMMENT).count_ones() {
            while self.byte()? != 0 {}
        }
        if flags & HEADER_CRC != 0 {
            self.skip(2)?;
        }
        Ok(())
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn skip(&mut self, count: u64) -> io::Result<()> {
        for _ in 0..count {
            self.byte()?;
        }
        Ok(())
    }

    /// Checks what stands after a member's data.
    fn end_member(&mut self) -> io::Result<()> {
        let holds = match self.container {
            Container::Gzip => {
                let mut trailer = [0; 8];
                self.input.read_exact(&mut trailer)?;
                let expected = (u64::from(self.crc.amount()) << 32) | u64::from(self.crc.sum());
                u64::from_le_bytes(trailer) == expected
            }
            Container::Zlib => {
                let mut trailer = [0; 4];
                self.input.read_exact(&mut trailer)?;
                // The most significant byte comes first here.
                trailer.reverse();
                u32::from_le_bytes(trailer) == self.adler.0
            }
        };
        if !holds {
            return Err(damaged("the compressed stream does not match its checksum"));
        }
        self.state = State::Header { first: false };
        Ok(())
    }

    fn inflate(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let input = self.input.fill_buf()?;
        let at_end = input.is_empty();
        let (taken, given) = (self.inflater.total_in(), self.inflater.total_out());
        let status = self.inflater.decompress(input, out, FlushDecompress::None);
        let status = status.map_err(|_| damaged("the compressed stream is damaged"))?;
        // Both differences are at most the lengths of slices.
        let taken = (self.inflater.total_in() - taken) as usize;
        let given = (self.inflater.total_out() - given) as usize;
        self.input.consume(taken);
        match self.container {
            Container::Gzip => self.crc.update(&out[..given]),
            Container::Zlib => self.adler.update(&out[..given]),
        }
        if status == Status::StreamEnd {
            // What the member held is given out before its checksum is looked at: records have their own.
            self.state = State::Trailer;
        } else if given == 0 && taken == 0 && at_end {
            return Err(io::ErrorKind::UnexpectedEof.into());
        } else if given == 0 && taken == 0 {
            return Err(damaged("the compressed stream is damaged"));
        }
        Ok(given)
    }
}

impl<R: BufRead> Read for Inflate<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            match self.state {
                State::Header { first } => self.begin(first)?,
                State::Body => match self.inflate(out)? {
                    0 => {}
                    given => return Ok(given),
                },
                State::Trailer => self.end_member()?,
                State::End => return Ok(0),
            }
        }
    }
}

/// Adler-32 (RFC 1950).
struct Adler(u32);

impl Adler {
    fn update(&mut self, bytes: &[u8]) {
        const MODULUS: u32 = 65_521;
        let (mut a, mut b) = (self.0 & 0xffff, self.0 >> 16);
        // So many bytes cannot overflow the sums.
        for chunk in bytes.chunks(5552) {
            for byte in chunk {
                a += u32::from(*byte);
                b += a;
            }
            (a, b) = (a % MODULUS, b % MODULUS);
        }
        self.0 = b << 16 | a;
    }
}

fn damaged(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
