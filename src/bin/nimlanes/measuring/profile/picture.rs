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

/// A flamegraph of folded stacks.
///
/// # Errors
/// The text is not of folded stacks.
pub fn draw(title: &str, subtitle: &str, folded: &str) -> io::Result<Vec<u8>> {
    image(style(title, subtitle), folded)
}

/// A flamegraph of the times of each stack before and now, in this unit. A frame is as wide as the larger time: red if that is
/// now, blue if it was before.
///
/// # Errors
/// As [`draw`].
pub fn draw_change(title: &str, subtitle: &str, unit: &str, times: &BTreeMap<String, [u64; 2]>) -> io::Result<Vec<u8>> {
    let mut times: Vec<_> = times.iter().collect();
    times.sort_by_cached_key(|(stack, _)| in_order(stack));
    // inferno takes two numbers. The second is the width, and the colour tells how much it is above the first.
    let line = |(stack, [before, now]): (&String, &[u64; 2])| {
        let width = before.max(now);
        format!("{stack} {} {width}\n", width + before - now)
    };
    let mut options = style(title, subtitle);
    options.count_name = unit.to_owned();
    image(options, &times.into_iter().map(line).collect::<String>())
}

fn image(mut options: flamegraph::Options<'_>, lines: &str) -> io::Result<Vec<u8>> {
    let mut image = Vec::new();
    flamegraph::from_lines(&mut options, lines.lines().rev(), &mut image)?;
    Ok(image)
}

/// Flamegraph options: a function has the same colour in every picture.
fn style(title: &str, subtitle: &str) -> flamegraph::Options<'static> {
    let mut options = flamegraph::Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(subtitle.to_owned());
    options.deterministic = true;
    options.hash = true;
    // Keeps the order of the lines, which it takes in reverse.
    options.flame_chart = true;
    // A label that is too long keeps its beginning.
    options.text_truncate_direction = flamegraph::TextTruncateDirection::Right;
    options
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

    #[test]
    fn what_is_gone_is_still_in_the_picture() {
        let times = BTreeMap::from([("kernel;gone".to_owned(), [900, 0]), ("kernel;new".to_owned(), [0, 100])]);
        let image = String::from_utf8(draw_change("title", "subtitle", "ps", &times).expect("text")).expect("UTF-8");
        for title in ["gone (900 ps, 90.00%; -90.00%)", "new (100 ps, 10.00%; +10.00%)"] {
            assert!(image.contains(title), "{title}: {image}");
        }
    }
}
