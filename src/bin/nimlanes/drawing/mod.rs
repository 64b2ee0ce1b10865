//! Pictures of positions and charts of measurements, as SVG.
//!
//! They are drawn from numbers and names, with the same axes, colours and sizes of text. Nothing here reads or writes a file, or
//! knows what a report is.

mod axis;
pub mod chart;
pub mod colours;
pub mod plot;
pub mod raster;
pub mod svg;
