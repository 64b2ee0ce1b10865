//! Flamegraphs, from stacks as text.

use std::collections::BTreeMap;
use std::io;

use inferno::flamegraph;

/// Samples of each stack; frames are joined by `;`, outermost first.
pub type Stacks = BTreeMap<String, u64>;

/// The stacks as text, one per line with its count, lines of source in their order.
pub fn folded(stacks: &Stacks) -> String {
    let mut stacks: Vec<_> = stacks.iter().collect();
    stacks.sort_by_cached_key(|(stack, _)| in_order(stack));
    stacks.into_iter().map(|(stack, count)| format!("{stack} {count}\n")).collect()
}

/// The stacks in a text of [`folded`]; `None` if it is no such text, or empty.
pub fn parse(text: &str) -> Option<Stacks> {
    let line = |line: &str| {
        let (stack, count) = line.rsplit_once(' ')?;
        Some((stack.to_owned(), count.parse().ok()?))
    };
    text.lines().map(line).collect::<Option<Stacks>>().filter(|stacks| stacks.values().any(|count| *count > 0))
}

/// The stacks as a tree, with the share of each frame, including what is below it. Shares under a fiftieth are left out.
pub fn tree(stacks: &Stacks) -> String {
    let mut frames = Stacks::new();
    for (stack, count) in stacks {
        let ends = stack.match_indices(';').map(|(end, _)| end).chain([stack.len()]);
        ends.for_each(|end| *frames.entry(stack[..end].to_owned()).or_default() += count);
    }
    let all: u64 = stacks.values().sum();
    frames.retain(|_, count| 50 * *count >= all);
    let line = |(path, count): (&String, &u64)| {
        let frame = path.rsplit(';').next().unwrap_or(path);
        format!("{:>7}  {}{frame}\n", percent(*count, all), "  ".repeat(path.matches(';').count()))
    };
    let mut frames: Vec<_> = frames.iter().collect();
    frames.sort_by_cached_key(|(path, _)| in_order(path));
    frames.into_iter().map(line).collect()
}

/// A share, such as `12.3 %`.
pub fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all as f64)
}

/// A key that sorts numbers by their value.
pub fn in_order(stack: &str) -> String {
    let padded = |part: &str| match part.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("{part:0>9}"),
        false => part.to_owned(),
    };
    stack
        .as_bytes()
        .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
        .map(String::from_utf8_lossy)
        .map(|part| padded(&part))
        .collect()
}

/// A flamegraph of folded stacks, in which a function has the same colour as in every other.
///
/// # Errors
/// The text is not of folded stacks.
pub fn draw(title: &str, subtitle: &str, folded: &str) -> io::Result<Vec<u8>> {
    let mut options = flamegraph::Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(subtitle.to_owned());
    options.deterministic = true;
    options.hash = true;
    // Keeps the order of the lines, which it takes in reverse.
    options.flame_chart = true;
    // A label that is too long keeps its beginning.
    options.text_truncate_direction = flamegraph::TextTruncateDirection::Right;
    let mut image = Vec::new();
    flamegraph::from_lines(&mut options, folded.lines().rev(), &mut image)?;
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_source_are_in_their_order() {
        let stacks = ["a;b.rs:100 x", "a;b.rs:9 x", "a;b.rs:20 y 3"].map(|stack| (stack.to_owned(), 1));
        let stacks = stacks.into();
        let text = folded(&stacks);
        assert_eq!(text, "a;b.rs:9 x 1\na;b.rs:20 y 3 1\na;b.rs:100 x 1\n");
        assert_eq!(parse(&text), Some(stacks));
        assert_eq!([parse(""), parse("a;b"), parse("a x\n"), parse("a 0")], [const { None }; 4]);
    }

    #[test]
    fn a_tree_has_inclusive_shares() {
        let stacks = [("a", 1), ("a;b;f.rs:10 x", 60), ("a;b;f.rs:9 x", 38), ("a;c", 1)];
        let stacks = stacks.map(|(stack, count)| (stack.to_owned(), count));
        let want = "100.0 %  a\n 98.0 %    b\n 38.0 %      f.rs:9 x\n 60.0 %      f.rs:10 x\n";
        assert_eq!(tree(&stacks.into()), want);
    }
}
