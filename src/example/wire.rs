//! The protocol buffer wire format: varints, tags, lengths and the skipping of unknown fields, without recursion.

use crate::error::{Error, ErrorKind};

/// Bytes that are no protocol buffer: where, and what is wrong. Cheap to make; becomes an [`Error`] at the border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// The byte within the payload.
    pub offset: usize,
    /// What is wrong there.
    pub what: &'static str,
}

pub(crate) type Parse<T> = Result<T, Malformed>;

impl Malformed {
    /// The error for a reader of records, who adds the file, the record and the frame's offset.
    #[cold]
    pub(crate) fn into_error(self) -> Error {
        let reason =
            format!("malformed protocol buffer at byte {} of the payload: {}", self.offset, self.what);
        Error::new(ErrorKind::MalformedProto, reason)
    }
}

/// How deep messages and groups may nest, as in every implementation of protocol buffers.
pub(crate) const DEPTH: usize = 100;

/// Wire types, the low three bits of a tag.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;
const GROUP: u32 = 3;
const GROUP_END: u32 = 4;
const FIXED32: u32 = 5;

/// The tag of a field of a wire type with a length: strings, bytes, messages and packed lists.
pub(crate) const fn length_tag(field: u32) -> u32 {
    field << 3 | LENGTH
}

/// The tag of a varint field.
pub(crate) const fn varint_tag(field: u32) -> u32 {
    field << 3 | VARINT
}

/// The tag of a field of four bytes.
pub(crate) const fn fixed32_tag(field: u32) -> u32 {
    field << 3 | FIXED32
}

/// A place in a message. `data` is the payload from its first byte to the message's end, so that positions are
/// those of the payload at every depth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    data: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of a payload.
    #[inline]
    pub(crate) fn new(data: &'a [u8]) -> Cursor<'a> {
        Cursor { data, pos: 0 }
    }

    /// From `pos` up to `end`, both positions in the payload.
    #[inline]
    pub(crate) fn part(payload: &'a [u8], pos: usize, end: usize) -> Cursor<'a> {
        Cursor { data: &payload[..end], pos }
    }

    #[inline]
    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.data.len()
    }

    #[inline]
    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.data.len()
    }

    /// The bytes from here to the end of the message.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.data[self.pos..]
    }

    #[cold]
    fn fail<T>(&self, what: &'static str) -> Parse<T> {
        Err(Malformed { offset: self.pos, what })
    }

    /// A varint of at most ten bytes; bits beyond the 64th are dropped, as other readers do.
    #[inline]
    pub(crate) fn varint(&mut self) -> Parse<u64> {
        match self.data.get(self.pos) {
            Some(&byte) if byte < 0x80 => {
                self.pos += 1;
                Ok(u64::from(byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Parse<u64> {
        let mut value = 0;
        for (i, &byte) in self.rest().iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.pos += i + 1;
                return Ok(value);
            }
        }
        if self.data.len() - self.pos >= 10 {
            return self.fail("a varint of more than 10 bytes");
        }
        self.fail("the message ends inside a varint")
    }

    /// A varint that must fit: a tag or a length, where dropped bits would mean something else.
    #[inline]
    fn exact_varint(&mut self) -> Parse<u64> {
        let start = *self;
        let value = self.varint()?;
        if self.pos - start.pos == 10 && self.data[self.pos - 1] > 1 {
            return start.fail("a tag or length of more than 64 bits");
        }
        Ok(value)
    }

    /// The next field's tag: number and wire type in one, never of field 0.
    #[inline]
    pub(crate) fn tag(&mut self) -> Parse<u32> {
        if let Some(&byte) = self.data.get(self.pos)
            && (8..0x80).contains(&byte)
        {
            self.pos += 1;
            return Ok(u32::from(byte));
        }
        let start = *self;
        match u32::try_from(self.exact_varint()?) {
            Ok(tag) if tag >= 8 => Ok(tag),
            Ok(_) => start.fail("field number 0"),
            Err(_) => start.fail("a field number of more than 29 bits"),
        }
    }

    /// The message or string that starts here with its length; the cursor moves behind it.
    #[inline]
    pub(crate) fn sub(&mut self) -> Parse<Cursor<'a>> {
        let start = *self;
        let length = self.exact_varint()?;
        let left = self.data.len() - self.pos;
        if length > left as u64 {
            return start.fail("a length that runs past the end of its message");
        }
        let end = self.pos + length as usize;
        let sub = Cursor { data: &self.data[..end], pos: self.pos };
        self.pos = end;
        Ok(sub)
    }

    /// The message of field 1 that starts here, if tag and length are written the usual way; else the cursor stays.
    #[inline(always)]
    pub(crate) fn plain_sub(&mut self) -> Option<Cursor<'a>> {
        let (&0x0a, rest) = self.rest().split_first()? else { return None };
        let (length, rest) = length(rest)?;
        if length > rest.len() {
            return None;
        }
        let pos = self.data.len() - rest.len();
        self.pos = pos + length;
        Some(Cursor { data: &self.data[..self.pos], pos })
    }

    /// The next four bytes, little-endian.
    #[inline]
    pub(crate) fn fixed32(&mut self) -> Parse<[u8; 4]> {
        match self.data.get(self.pos..self.pos + 4) {
            Some(four) => {
                self.pos += 4;
                Ok([four[0], four[1], four[2], four[3]])
            }
            None => self.fail("the message ends inside a field of 4 bytes"),
        }
    }

    fn fixed64(&mut self) -> Parse<()> {
        if self.data.len() - self.pos < 8 {
            return self.fail("the message ends inside a field of 8 bytes");
        }
        self.pos += 8;
        Ok(())
    }

    /// Skips the value of an unknown field whose tag was just read. `depth` is how deep it may still nest.
    pub(crate) fn skip(&mut self, tag: u32, depth: usize) -> Parse<()> {
        match tag & 7 {
            GROUP => self.skip_group(tag >> 3, depth),
            _ => self.skip_plain(tag),
        }
    }

    fn skip_plain(&mut self, tag: u32) -> Parse<()> {
        match tag & 7 {
            VARINT => self.varint().map(drop),
            FIXED64 => self.fixed64(),
            LENGTH => self.sub().map(drop),
            FIXED32 => self.fixed32().map(drop),
            GROUP_END => self.fail("the end of a group that was never opened"),
            _ => self.fail("an unknown wire type"),
        }
    }

    fn skip_group(&mut self, field: u32, depth: usize) -> Parse<()> {
        let mut open = [0; DEPTH];
        open[0] = field;
        let mut level = 1;
        while level > 0 {
            if self.at_end() {
                return self.fail("a group that is never closed");
            }
            let tag = self.tag()?;
            if tag & 7 == GROUP_END {
                level -= 1;
                if tag >> 3 != open[level] {
                    return self.fail("the end of another group than the open one");
                }
            } else if level >= depth {
                return self.fail("groups nested too deep");
            } else if tag & 7 == GROUP {
                open[level] = tag >> 3;
                level += 1;
            } else {
                self.skip_plain(tag)?;
            }
        }
        Ok(())
    }

    /// A known field that comes with another wire type than its own.
    #[cold]
    pub(crate) fn wrong_wire<T>(&self) -> Parse<T> {
        self.fail("a known field with a wrong wire type")
    }
}

/// A length of up to four bytes, and what follows it.
#[inline(always)]
pub(crate) fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let low = |byte: u8| usize::from(byte & 0x7f);
    match *bytes {
        [a, ref rest @ ..] if a < 0x80 => Some((a.into(), rest)),
        [a, b, ref rest @ ..] if b < 0x80 => Some((low(a) | low(b) << 7, rest)),
        [a, b, c, ref rest @ ..] if c < 0x80 => Some((low(a) | low(b) << 7 | low(c) << 14, rest)),
        [a, b, c, d, ref rest @ ..] if d < 0x80 => {
            Some((low(a) | low(b) << 7 | low(c) << 14 | low(d) << 21, rest))
        }
        _ => None,
    }
}

/// The number of varints in a packed list.
pub(crate) fn count_varints(list: Cursor<'_>) -> Parse<usize> {
    let (mut count, mut run) = (0, 0);
    for (i, &byte) in list.rest().iter().enumerate() {
        if byte < 0x80 {
            count += 1;
            run = 0;
        } else {
            run += 1;
            if run == 10 {
                let offset = list.pos + i - 9;
                return Err(Malformed { offset, what: "a varint of more than 10 bytes" });
            }
        }
    }
    if run > 0 {
        let offset = list.end() - run;
        return Err(Malformed { offset, what: "the message ends inside a varint" });
    }
    Ok(count)
}
