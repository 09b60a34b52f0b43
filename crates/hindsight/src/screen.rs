//! What fits a screen: colours, widths, ages, and text that can do no harm to a terminal.

use std::time::Duration;

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Row, Table, presets::NOTHING};
use hindsight_core::Status;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns when there is no terminal to ask.
const WIDTH_DEFAULT: u16 = 100;
/// Columns at least, whatever the terminal says.
const WIDTH_MIN: u16 = 60;

/// The columns of the terminal, of `COLUMNS`, or 100.
pub(crate) fn terminal_width(is_terminal: bool) -> u16 {
    let from_terminal = if is_terminal { Table::new().width() } else { None };
    let from_environment = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    from_terminal.or_else(from_environment).unwrap_or(WIDTH_DEFAULT).max(WIDTH_MIN)
}

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours where they are `wanted` and the environment does not forbid them.
    pub(crate) fn new(wanted: bool) -> Paint {
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint { on: wanted && !forbidden }
    }

    fn sgr(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.sgr("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.sgr("2", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.sgr("32", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.sgr("31", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.sgr("36", text)
    }

    /// A table without lines, as wide as `width` at most.
    pub(crate) fn table(self, width: u16, header: &[&str]) -> Table {
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        table.set_truncation_indicator("…");
        if self.on {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        if !header.is_empty() {
            table.set_header(header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
        }
        table
    }
}

/// A row that is cut to one line.
pub(crate) fn one_line(cells: Vec<Cell>) -> Row {
    let mut row = Row::from(cells);
    row.max_height(1);
    row
}

/// The text of a table: two blanks between columns, none at the ends of its lines.
pub(crate) fn text_of(table: &mut Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

/// The cell of an outcome, in its colour.
pub(crate) fn status_cell(status: Option<Status>) -> Cell {
    let cell = Cell::new(status.map_or("", Status::as_str));
    match status {
        Some(Status::Success) => cell.fg(Color::Green),
        Some(Status::Failure) => cell.fg(Color::Red),
        Some(Status::Partial) => cell.fg(Color::Yellow),
        None => cell,
    }
}

/// Text for one line of a screen: every run of blanks, line ends and control characters is one blank.
///
/// A stored text is a stranger's: escape sequences must not reach the terminal, and marks that turn the direction
/// of writing must not make a line look like another.
pub(crate) fn flat(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || is_unsafe(c)).filter(|word| !word.is_empty()) {
        if !flat.is_empty() {
            flat.push(' ');
        }
        flat.push_str(word);
    }
    flat
}

/// Text for several lines of a screen: line ends and tabs stay, other control characters become `�`.
pub(crate) fn safe(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text in lines of at most `width` columns, broken between words where there are any. What does not fit into `most`
/// lines ends with an ellipsis.
pub(crate) fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for piece in pieces(text) {
        let columns = piece.width();
        if used > 0 && used + piece.trim_end().width() > width {
            if lines.len() == most {
                cut_with_ellipsis(lines.last_mut(), width);
                break;
            }
            lines.push(String::new());
            used = 0;
        }
        used += columns;
        if let Some(line) = lines.last_mut() {
            line.push_str(piece);
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Words with the blanks after them; a wide character is a piece of its own, since Chinese breaks anywhere.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let after_word = |before: char| before == ' ' || before.width() == Some(2) || c.width() == Some(2);
        let breaks = c != ' ' && before.is_some_and(after_word);
        if breaks {
            pieces.extend(text.get(start..at));
            start = at;
        }
        before = Some(c);
    }
    pieces.extend(text.get(start..).filter(|rest| !rest.is_empty()));
    pieces
}

fn cut_with_ellipsis(line: Option<&mut String>, width: usize) {
    let Some(line) = line else { return };
    line.truncate(line.trim_end().len());
    while line.width() + 1 > width {
        line.pop();
    }
    line.push('…');
}

/// An age for people: `4 min`, `3.5 h`, `12 d`, or `in 2 d`.
pub(crate) fn age_text(age_days: f64) -> String {
    let days = age_days.abs();
    let length = match days {
        days if days * 24.0 < 1.0 => format!("{:.0} min", days * 1440.0),
        days if days < 1.0 => format!("{:.0} h", days * 24.0),
        days if days < 10.0 => format!("{days:.1} d"),
        days => format!("{days:.0} d"),
    };
    if age_days < 0.0 { format!("in {length}") } else { length }
}

/// A length of time for people: `51 ms`, or `2.4 s`.
pub(crate) fn took_text(took: Duration) -> String {
    if took < Duration::from_secs(1) {
        format!("{} ms", took.as_millis())
    } else {
        format!("{:.1} s", took.as_secs_f64())
    }
}

/// A number with commas between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `one memory` or `n memories`, as the number asks.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_text_can_not_move_the_cursor() {
        let hostile = "ok\u{1b}[2J\u{9b}31m\r\nsecond\tline \u{202e}drow";
        assert_eq!(flat(hostile), "ok [2J 31m second line drow");
        assert_eq!(safe(hostile), "ok\u{fffd}[2J\u{fffd}31m\u{fffd}\nsecond\tline \u{fffd}drow");
    }

    #[test]
    fn wide_characters_are_measured_as_two_columns() {
        let paint = Paint { on: false };
        let mut table = paint.table(60, &["text", "id"]);
        let text = "我对花生过敏，所以每次点餐都要先问一遍有没有花生酱，这一点请一直记住不要忘记";
        table.add_row(one_line(vec![Cell::new(text), Cell::new("mem_1")]));
        let line = text_of(&mut table).lines().nth(1).unwrap().to_owned();
        assert!(line.ends_with("mem_1") && line.contains('…'), "{line:?}");
        let columns: usize = line.chars().map(|c| if c.is_ascii() || c == '…' { 1 } else { 2 }).sum();
        assert!((50..=60).contains(&columns), "{columns} columns: {line:?}");
    }

    #[test]
    fn lines_break_between_words_and_anywhere_in_chinese() {
        assert_eq!(wrapped("one two three", 8, 9), ["one two", "three"]);
        assert_eq!(wrapped("我对花生过敏", 6, 9), ["我对花", "生过敏"]);
        assert_eq!(wrapped("重启 gateway 之后好了", 10, 9), ["重启", "gateway 之", "后好了"]);
        assert_eq!(wrapped("one two three four", 8, 2), ["one two", "three…"]);
        assert_eq!(wrapped("", 8, 2), [""]);
        assert_eq!(wrapped("unbreakable", 4, 2), ["unbreakable"]);
    }

    #[test]
    fn ages_and_numbers_read_well() {
        assert_eq!(age_text(0.002), "3 min");
        assert_eq!(age_text(0.5), "12 h");
        assert_eq!(age_text(3.25), "3.2 d");
        assert_eq!(age_text(-45.0), "in 45 d");
        assert_eq!(took_text(Duration::from_millis(51)), "51 ms");
        assert_eq!(took_text(Duration::from_millis(2_380)), "2.4 s");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "memory", "memories"), "1 memory");
        assert_eq!(counted(0, "memory", "memories"), "0 memories");
    }
}
