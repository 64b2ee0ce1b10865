//! Numbers for people.

/// A number of bytes.
pub fn bytes(bytes: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let step = if bytes < 1.0 { 0 } else { ((bytes.log10() / 3.0) as usize).min(units.len() - 1) };
    format!("{:.3} {}", bytes / 1000f64.powi(step as i32), units[step])
}

/// A number of nanoseconds.
pub fn span(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns if ns < 600e9 => format!("{:.2} s", ns / 1e9),
        ns if ns < 48.0 * 3600e9 => format!("{:.1} hours", ns / 3600e9),
        ns => format!("{:.0} days", ns / (24.0 * 3600e9)),
    }
}
