//! Contact sheets: pictures side by side, each with its record number and label, boxes drawn where there are any.

mod font;

use ::image::imageops;
use ::image::{Rgb, RgbImage};

use crate::image::decode::Image;

use font::Font;

/// One picture and what is to be written on it.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The picture, gray, RGB or with alpha (which is not drawn); or why there is none.
    pub picture: Result<Image, String>,
    /// The first line, at the left: which record.
    pub title: String,
    /// The second line: its label.
    pub label: String,
    /// Objects in the picture.
    pub boxes: Vec<Box>,
}

/// An object: edges as parts of the picture's height and width (0 to 1), and its name.
#[derive(Clone, Debug)]
pub struct Box {
    /// The upper edge.
    pub ymin: f32,
    /// The left edge.
    pub xmin: f32,
    /// The lower edge.
    pub ymax: f32,
    /// The right edge.
    pub xmax: f32,
    /// What it is.
    pub name: String,
}

const MARGIN: u32 = 10;
const GAP: u32 = 4;
/// Captions are drawn at twice the font's size.
const SCALE: u32 = 2;
const LINE: u32 = font::HEIGHT as u32 * SCALE + GAP;
const GROUND: Rgb<u8> = Rgb([24, 26, 30]);
const MAT: Rgb<u8> = Rgb([38, 41, 47]);
const INK: Rgb<u8> = Rgb([236, 236, 232]);
const DIM: Rgb<u8> = Rgb([150, 156, 168]);
const ALARM: Rgb<u8> = Rgb([235, 90, 80]);
const BLACK: Rgb<u8> = Rgb([0, 0, 0]);
const BOX_INKS: [Rgb<u8>; 6] = [
    Rgb([255, 214, 10]),
    Rgb([64, 224, 208]),
    Rgb([255, 120, 180]),
    Rgb([140, 230, 80]),
    Rgb([255, 150, 60]),
    Rgb([130, 180, 255]),
];

/// Columns and rows of a sheet: a little wider than high.
pub fn grid(count: usize) -> (u32, u32) {
    let columns = ((count as f64 * 1.25).sqrt().ceil() as u32).max(1);
    (columns, (count as u32).div_ceil(columns).max(1))
}

/// The width and height in pixels of a sheet of `count` pictures fitted into squares of `side` pixels.
pub fn size(count: usize, side: u32) -> (u32, u32) {
    let (columns, rows) = grid(count);
    (columns * (side + MARGIN) + MARGIN, rows * (side + GAP + 2 * LINE + MARGIN) + MARGIN)
}

/// Draws the sheet: an RGB picture of [`size`] `(tiles.len(), side)`.
///
/// Large pictures are scaled down by averaging, small ones up by whole numbers: a sheet is for looking at, it makes no promise about
/// pixels.
pub fn draw(tiles: &[Tile], side: u32) -> Image {
    let canvas = canvas(tiles, side);
    Image { height: canvas.height(), width: canvas.width(), channels: 3, pixels: canvas.into_raw() }
}

fn canvas(tiles: &[Tile], side: u32) -> RgbImage {
    let (width, height) = size(tiles.len(), side);
    let (columns, _) = grid(tiles.len());
    let mut sheet = Sheet { canvas: RgbImage::from_pixel(width, height, GROUND), font: Font::new() };
    for (i, tile) in tiles.iter().enumerate() {
        let (column, row) = (i as u32 % columns, i as u32 / columns);
        let x = MARGIN + column * (side + MARGIN);
        let y = MARGIN + row * (side + GAP + 2 * LINE + MARGIN);
        sheet.tile(tile, x, y, side);
    }
    sheet.canvas
}

/// The largest size within `side` x `side` of the same proportions; small pictures grow by whole numbers only.
pub fn fitted(width: u32, height: u32, side: u32) -> (u32, u32) {
    let longest = width.max(height).max(1);
    if longest <= side {
        let factor = side / longest;
        return (width.max(1) * factor, height.max(1) * factor);
    }
    let scaled = |length: u32| (u64::from(length) * u64::from(side) / u64::from(longest)).max(1) as u32;
    (scaled(width), scaled(height))
}

/// The picture as RGB; `None` where it does not hold what its size says.
fn rgb(picture: &Image) -> Option<RgbImage> {
    let pixels = match picture.channels {
        3 => picture.pixels.clone(),
        1 => picture.pixels.iter().flat_map(|&gray| [gray; 3]).collect(),
        4 => picture.pixels.chunks_exact(4).flat_map(|rgba| [rgba[0], rgba[1], rgba[2]]).collect(),
        _ => return None,
    };
    RgbImage::from_raw(picture.width, picture.height, pixels)
}

struct Sheet {
    canvas: RgbImage,
    font: Font,
}

impl Sheet {
    fn tile(&mut self, tile: &Tile, x: u32, y: u32, side: u32) {
        self.fill(x, y, side, side, MAT);
        let chars = ((side + SCALE) / (font::ADVANCE as u32 * SCALE)) as usize;
        match &tile.picture {
            Ok(picture) => match rgb(picture) {
                Some(picture) => self.picture(&picture, &tile.boxes, x, y, side),
                None => self.lacking("not as many pixels as its size says", x, y, side, chars),
            },
            Err(reason) => self.lacking(reason, x, y, side, chars),
        }
        let text = y + side + GAP;
        self.text(&font::fit(&tile.title, chars), x, text, SCALE, DIM);
        self.text(&font::fit(&tile.label, chars), x, text + LINE, SCALE, INK);
    }

    fn picture(&mut self, picture: &RgbImage, boxes: &[Box], x: u32, y: u32, side: u32) {
        let (width, height) = fitted(picture.width(), picture.height(), side);
        let (left, top) = (x + (side - width) / 2, y + (side - height) / 2);
        let small = if width < picture.width() || height < picture.height() {
            imageops::thumbnail(picture, width, height)
        } else {
            imageops::resize(picture, width, height, imageops::FilterType::Nearest)
        };
        imageops::replace(&mut self.canvas, &small, i64::from(left), i64::from(top));
        for (i, object) in boxes.iter().enumerate() {
            self.object(object, BOX_INKS[i % BOX_INKS.len()], [left, top, width, height]);
        }
    }

    fn object(&mut self, object: &Box, ink: Rgb<u8>, [left, top, width, height]: [u32; 4]) {
        let place = |part: f32, start: u32, length: u32| {
            start + (part.clamp(0.0, 1.0) * length as f32).round().min(length as f32) as u32
        };
        let (x0, x1) = (place(object.xmin, left, width), place(object.xmax, left, width));
        let (y0, y1) = (place(object.ymin, top, height), place(object.ymax, top, height));
        if x1 <= x0 || y1 <= y0 {
            return;
        }
        let (w, h) = (x1 - x0, y1 - y0);
        for (inset, colour) in [(0, BLACK), (1, ink), (2, ink), (3, BLACK)] {
            if w > 2 * inset && h > 2 * inset {
                self.frame(x0 + inset, y0 + inset, w - 2 * inset, h - 2 * inset, colour);
            }
        }
        if object.name.is_empty() {
            return;
        }
        let room = (left + width - x0).saturating_sub(6) as usize / font::ADVANCE;
        let name = font::fit(&object.name, room);
        let tag = (font::width(&name) as u32 + 4, font::HEIGHT as u32 + 3);
        let tag_y = if y0 >= top + tag.1 { y0 - tag.1 } else { y0 };
        self.fill(x0, tag_y, tag.0.min(left + width - x0), tag.1.min(top + height - tag_y), ink);
        self.text(&name, x0 + 2, tag_y + 2, 1, BLACK);
    }

    /// In the place of a picture: a cross and the reason, broken into lines.
    fn lacking(&mut self, reason: &str, x: u32, y: u32, side: u32, chars: usize) {
        for i in 0..side {
            for thick in 0..2u32 {
                self.canvas.put_pixel(x + i, y + (i + thick).min(side - 1), Rgb([90, 40, 40]));
                self.canvas.put_pixel(x + side - 1 - i, y + (i + thick).min(side - 1), Rgb([90, 40, 40]));
            }
        }
        let lines = wrap(reason, chars.saturating_sub(1).max(1));
        let room = (side / LINE).max(1) as usize;
        for (i, line) in lines.iter().take(room).enumerate() {
            self.text(line, x + 6, y + GAP + i as u32 * LINE, SCALE, ALARM);
        }
    }

    fn fill(&mut self, x: u32, y: u32, width: u32, height: u32, colour: Rgb<u8>) {
        for row in y..(y + height).min(self.canvas.height()) {
            for column in x..(x + width).min(self.canvas.width()) {
                self.canvas.put_pixel(column, row, colour);
            }
        }
    }

    fn frame(&mut self, x: u32, y: u32, width: u32, height: u32, colour: Rgb<u8>) {
        self.fill(x, y, width, 1, colour);
        self.fill(x, y + height - 1, width, 1, colour);
        self.fill(x, y, 1, height, colour);
        self.fill(x + width - 1, y, 1, height, colour);
    }

    fn text(&mut self, text: &str, x: u32, y: u32, scale: u32, colour: Rgb<u8>) {
        let (width, height) = self.canvas.dimensions();
        let canvas = &mut self.canvas;
        self.font.dots(text, |dx, dy| {
            for sy in 0..scale {
                for sx in 0..scale {
                    let (px, py) = (x + dx as u32 * scale + sx, y + dy as u32 * scale + sy);
                    if px < width && py < height {
                        canvas.put_pixel(px, py, colour);
                    }
                }
            }
        });
    }
}

/// Breaks a text into lines of at most `chars` characters, at spaces where there are any.
fn wrap(text: &str, chars: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let used = lines.last().map_or(chars, |line| line.chars().count());
            if used + 1 + word.len() <= chars {
                if let Some(line) = lines.last_mut() {
                    line.push(' ');
                    line.extend(word);
                }
                break;
            }
            let rest = word.split_off(word.len().min(chars));
            lines.push(word.into_iter().collect());
            if rest.is_empty() {
                break;
            }
            word = rest;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(width: u32, height: u32) -> Tile {
        Tile {
            picture: Ok(Image {
                height,
                width,
                channels: 3,
                pixels: [200, 10, 10].repeat((width * height) as usize),
            }),
            title: "#0".into(),
            label: "red".into(),
            boxes: vec![
                Box { ymin: -1.0, xmin: 0.5, ymax: f32::NAN, xmax: 2.0, name: "odd".into() },
                Box {
                    ymin: 0.1,
                    xmin: 0.1,
                    ymax: 0.9,
                    xmax: 0.9,
                    name: "a long name for a small box".into(),
                },
                Box { ymin: 0.99, xmin: 0.99, ymax: 1.0, xmax: 1.0, name: "corner".into() },
            ],
        }
    }

    #[test]
    fn pictures_of_any_shape_are_fitted() {
        assert_eq!(fitted(500, 375, 224), (224, 168));
        assert_eq!(fitted(1, 100_000, 224), (1, 224));
        assert_eq!(fitted(28, 28, 224), (224, 224));
        assert_eq!(fitted(100, 60, 224), (200, 120));
    }

    #[test]
    fn a_sheet_has_its_size_and_its_pictures() {
        for count in [1, 2, 5, 7, 20, 33] {
            let tiles: Vec<Tile> = (0..count).map(|i| tile(20 + i as u32 * 37, 300)).collect();
            let sheet = draw(&tiles, 96);
            assert_eq!((sheet.width, sheet.height), size(count, 96));
            let red = sheet.pixels.chunks(3).filter(|pixel| pixel == &[200, 10, 10]).count();
            assert!(red > count * 96, "{count}: {red}");
        }
    }

    #[test]
    fn a_missing_picture_says_why() {
        let lacking = Tile { picture: Err("x".repeat(5000)), ..tile(1, 1) };
        let torn = Tile {
            picture: Ok(Image { height: 9, width: 9, channels: 3, pixels: vec![0; 5] }),
            ..tile(1, 1)
        };
        for tile in [lacking, torn] {
            assert!(canvas(&[tile], 64).pixels().any(|pixel| *pixel == ALARM));
        }
    }

    #[test]
    fn gray_and_alpha_are_shown_as_they_are() {
        let gray = Image { height: 1, width: 2, channels: 1, pixels: vec![7, 9] };
        assert_eq!(rgb(&gray).unwrap().into_raw(), [7, 7, 7, 9, 9, 9]);
        let alpha = Image { height: 1, width: 1, channels: 4, pixels: vec![1, 2, 3, 0] };
        assert_eq!(rgb(&alpha).unwrap().into_raw(), [1, 2, 3]);
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("not a picture at all", 9), ["not a", "picture", "at all"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert!(wrap("", 3).is_empty());
    }
}
