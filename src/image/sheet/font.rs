//! The sheet's own font: 5 x 7 dots and two rows for descenders, drawn as text in `font.txt`.
//!
//! `font.txt` holds the 96 characters from the space on, 16 side by side in a band of 9 lines; the last one is the
//! box that stands for what the font lacks.

/// Dots across a character.
pub const WIDTH: usize = 5;
/// Dots down a character, with the descender.
pub const HEIGHT: usize = 9;
/// From one character to the next.
pub const ADVANCE: usize = WIDTH + 1;

const ART: &str = include_str!("font.txt");
const BAND: usize = 16;
const FIRST: u32 = 0x20;
const LAST: u32 = 0x7F;

/// A font, ready to be drawn from.
pub struct Font {
    glyphs: Vec<[u8; HEIGHT]>,
}

impl Font {
    /// Reads the drawings.
    pub fn new() -> Font {
        let lines: Vec<&str> = ART.lines().collect();
        let glyph = |index: usize| {
            let top = index / BAND * (HEIGHT + 1);
            let left = index % BAND * ADVANCE;
            std::array::from_fn(|row| {
                lines[top + row].as_bytes()[left..left + WIDTH]
                    .iter()
                    .fold(0, |bits, dot| bits << 1 | u8::from(*dot == b'#'))
            })
        };
        Font { glyphs: (0..=(LAST - FIRST) as usize).map(glyph).collect() }
    }

    /// Calls `dot(x, y)` for each dot of a text, from its upper left corner.
    pub fn dots(&self, text: &str, mut dot: impl FnMut(usize, usize)) {
        for (i, c) in text.chars().enumerate() {
            for (y, bits) in self.glyph(c).iter().enumerate() {
                for x in 0..WIDTH {
                    if bits >> (WIDTH - 1 - x) & 1 == 1 {
                        dot(i * ADVANCE + x, y);
                    }
                }
            }
        }
    }

    fn glyph(&self, c: char) -> &[u8; HEIGHT] {
        let code = plain(c) as u32;
        let code = if (FIRST..LAST).contains(&code) { code } else { LAST };
        &self.glyphs[(code - FIRST) as usize]
    }
}

/// A Latin letter without its marks; any other character as it is.
fn plain(c: char) -> char {
    const MARKED: [(&str, char); 18] = [
        ("ÀÁÂÃÄÅĀĄ", 'A'),
        ("ÇĆČ", 'C'),
        ("ÈÉÊËĒĘĚ", 'E'),
        ("ÌÍÎÏ", 'I'),
        ("ÑŃŇ", 'N'),
        ("ÒÓÔÕÖØŐ", 'O'),
        ("ŚŠ", 'S'),
        ("ÙÚÛÜŮŰ", 'U'),
        ("ŹŻŽ", 'Z'),
        ("àáâãäåāą", 'a'),
        ("çćč", 'c'),
        ("èéêëēęě", 'e'),
        ("ìíîï", 'i'),
        ("ñńň", 'n'),
        ("òóôõöøő", 'o'),
        ("śš", 's'),
        ("ùúûüůű", 'u'),
        ("źżž", 'z'),
    ];
    if c.is_ascii() {
        return c;
    }
    MARKED.iter().find(|(marked, _)| marked.contains(c)).map_or(c, |(_, plain)| *plain)
}

/// The width of a text in dots.
pub fn width(text: &str) -> usize {
    (text.chars().count() * ADVANCE).saturating_sub(1)
}

/// A text cut to at most `chars` characters, with two dots where something is missing.
pub fn fit(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(chars.saturating_sub(2)).collect();
    cut.push_str("..");
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_drawn_and_unlike_all_others() {
        let font = Font::new();
        assert_eq!(font.glyphs.len(), 96);
        for (i, glyph) in font.glyphs.iter().enumerate() {
            assert_eq!(glyph.iter().all(|row| *row == 0), i == 0, "only the space is empty");
            assert!(
                font.glyphs.iter().skip(i + 1).all(|other| other != glyph),
                "character {i} is drawn twice"
            );
        }
    }

    #[test]
    fn letters_lose_their_marks_and_what_is_lacking_is_a_box() {
        let font = Font::new();
        assert_eq!(font.glyph('é'), font.glyph('e'));
        assert_eq!(font.glyph('\u{4e2d}'), font.glyphs.last().unwrap());
        assert_eq!(font.glyph('\n'), font.glyphs.last().unwrap());
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(fit("raccoon", 7), "raccoon");
        assert_eq!(fit("raccoons", 7), "racco..");
        assert_eq!(width("ab"), 11);
        assert_eq!(width(""), 0);
    }
}
