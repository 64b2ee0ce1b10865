//! Pictures of positions and charts of measurements, as SVG and PNG.
//!
//! A picture is made of numbers and labels: reading files and naming kernels is up to those who draw.

pub mod beams;
pub mod chart;
mod picture;
pub mod plot;
