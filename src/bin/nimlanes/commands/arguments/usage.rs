//! Clap's errors on one line, like all others.

use clap::error::Error;

/// The message and the hints of an error, without the usage that follows.
pub fn line(error: &Error) -> String {
    let text = error.render().to_string();
    let lines =
        text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let mut message = String::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let join = if message.is_empty() || message.ends_with(':') { " " } else { "; " };
        message = message + join + line;
    }
    let message = message.trim_start();
    message.strip_prefix("error: ").unwrap_or(message).to_owned()
}
