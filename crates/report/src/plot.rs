//! Plots as inline SVG. Colours are fixed here for light pages; the style sheet replaces them by
//! attribute selectors on dark ones.

use crate::Error;
use crate::number::{engineering, label, significant};
use crate::series::{clip, extent, padded, pieces, plottable};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Coordinates of the back-end are whole numbers: plots are drawn so much larger than shown.
const SCALE: u32 = 3;

const TEXT: RGBColor = RGBColor(0x3b, 0x42, 0x4d);
const AXIS: RGBColor = RGBColor(0x8a, 0x93, 0x9f);
const GRID: RGBColor = RGBColor(0xe4, 0xe7, 0xeb);
/// Measured values.
const MEASURED: RGBColor = RGBColor(0x58, 0x62, 0x70);
/// Measured values where many of them make a band.
const BAND: RGBColor = RGBColor(0xc3, 0xca, 0xd3);
const FITTED: RGBColor = RGBColor(0x0f, 0x6f, 0xc5);
const INITIAL: RGBColor = RGBColor(0xd0, 0x8a, 0x1e);
const RESIDUAL: RGBColor = RGBColor(0x9a, 0x4f, 0x96);
/// What nothing but noise would give.
const NOISE: RGBColor = RGBColor(0xf0, 0xe3, 0xef);

/// Up to so many measured values are drawn as dots.
const DOTS: usize = 150;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws on a canvas of `width` by `height` CSS pixels. The text is for those who cannot see it.
fn svg(
    [width, height]: [u32; 2],
    text: &str,
    draw: impl FnOnce(&Area) -> Result<(), Error>,
) -> Result<String, Error> {
    let mut out = String::new();
    {
        let size = (width * SCALE, height * SCALE);
        let area = SVGBackend::with_string(&mut out, size).into_drawing_area();
        draw(&area)?;
        area.present().map_err(failed)?;
    }
    // The style sheet sets the size on the page; the text is free of markup.
    let role = format!("<svg role=\"img\" aria-label=\"{text}\" ");
    Ok(out.trim_end().replacen("<svg ", &role, 1))
}

fn failed(e: impl std::fmt::Display) -> Error {
    Error::Plot(e.to_string())
}

fn px(css: u32) -> u32 {
    css * SCALE
}

fn font(css: u32) -> TextStyle<'static> {
    ("sans-serif", px(css)).into_font().color(&TEXT)
}

/// Tick labels with just the digits that a range needs.
fn tick(range: [f64; 2]) -> impl Fn(&f64) -> String {
    let step = (range[1] - range[0]) / 8.0;
    let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    move |v: &f64| {
        let text = format!("{:.*}", decimals, if v.abs() < 1e-3 * step { 0.0 } else { *v });
        text.replace('-', "−")
    }
}

/// Axes of a plot.
struct Frame<'a> {
    x: [f64; 2],
    y: [f64; 2],
    x_label: &'a str,
    y_label: &'a str,
    y_ticks: usize,
    y_format: &'a dyn Fn(&f64) -> String,
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

fn axes<'a, 'b>(area: &'a Area<'b>, frame: &Frame) -> Result<Chart<'a, 'b>, Error> {
    let mut chart = ChartBuilder::on(area)
        .margin_top(px(6))
        .margin_right(px(12))
        .x_label_area_size(px(if frame.x_label.is_empty() { 20 } else { 36 }))
        .y_label_area_size(px(62))
        .build_cartesian_2d(frame.x[0]..frame.x[1], frame.y[0]..frame.y[1])
        .map_err(failed)?;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .bold_line_style(GRID.stroke_width(SCALE))
        .axis_style(AXIS.stroke_width(SCALE))
        .label_style(font(11))
        .axis_desc_style(font(12))
        .x_desc(frame.x_label)
        .y_desc(frame.y_label)
        .x_labels(7)
        .y_labels(frame.y_ticks)
        .x_label_formatter(&tick(frame.x))
        .y_label_formatter(&frame.y_format)
        .draw()
        .map_err(failed)?;
    Ok(chart)
}

/// Draws a curve, cut at the frame's bounds.
fn curve(
    chart: &mut Chart,
    parts: &[Vec<[f64; 2]>],
    y: [f64; 2],
    style: ShapeStyle,
) -> Result<(), Error> {
    for part in parts.iter().flat_map(|p| clip(p, y[0], y[1])) {
        if let [p] = part[..] {
            let dot = Circle::new((p[0], p[1]), px(2), style.filled());
            chart.draw_series([dot]).map_err(failed)?;
        } else {
            let points = part.iter().map(|p| (p[0], p[1]));
            chart.draw_series(LineSeries::new(points, style)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Measured values beside the model's.
pub(crate) struct Comparison<'a> {
    /// What the vertical axis shows.
    pub name: &'a str,
    pub unit: &'a str,
    pub t: &'a [f64],
    pub measured: &'a [f64],
    pub fitted: &'a [f64],
    pub initial: Option<&'a [f64]>,
}

/// A plot of a signal over time; `None` where there is nothing to show.
pub(crate) fn comparison(c: &Comparison, size: [u32; 2]) -> Result<Option<String>, Error> {
    let both = c.measured.iter().chain(c.fitted).copied();
    let (Some(x), Some(main)) = (extent(c.t.iter().copied()), extent(both)) else {
        return Ok(None);
    };
    // A start far off must not squeeze the rest: at most its own height again on either side.
    let mut y = main;
    if let Some(e) = extent(c.initial.unwrap_or_default().iter().copied()) {
        let room = 0.6 * (main[1] - main[0]);
        y = [main[0].min(e[0].max(main[0] - room)), main[1].max(e[1].min(main[1] + room))];
    }
    let exponent = engineering(y[0].abs().max(y[1].abs()));
    let unit = 10f64.powi(exponent);
    let scaled = |list: &[f64]| list.iter().map(|v| v / unit).collect::<Vec<_>>();
    let y = padded(y.map(|v| v / unit), 0.06);
    let x = if x[0] == x[1] { padded(x, 0.5) } else { x };
    let text = label(c.name, c.unit, exponent);
    svg(size, "measured and fitted values over time", |area| {
        let frame =
            Frame { x, y, x_label: "time (s)", y_label: &text, y_ticks: 6, y_format: &tick(y) };
        let mut chart = axes(area, &frame)?;
        let measured = pieces(c.t, &scaled(c.measured));
        let few = measured.iter().map(Vec::len).sum::<usize>() <= DOTS;
        if !few {
            curve(&mut chart, &measured, y, BAND.stroke_width(5 * SCALE))?;
        }
        if let Some(initial) = c.initial {
            let parts = pieces(c.t, &scaled(initial));
            for part in parts.iter().flat_map(|p| clip(p, y[0], y[1])) {
                let points = part.iter().map(|p| (p[0], p[1]));
                let style = INITIAL.stroke_width(SCALE);
                let dashes = DashedLineSeries::new(points, px(5), px(4), style);
                chart.draw_series(dashes).map_err(failed)?;
            }
        }
        curve(&mut chart, &pieces(c.t, &scaled(c.fitted)), y, FITTED.stroke_width(5))?;
        if few {
            let points = measured.iter().flatten();
            let dot = |p: &[f64; 2]| Circle::new((p[0], p[1]), px(2), MEASURED.filled());
            chart.draw_series(points.map(dot)).map_err(failed)?;
        }
        Ok(())
    })
    .map(Some)
}

/// Residuals over time, with a band of ± two standard deviations of the noise where known.
pub(crate) fn residual(
    unit: &str,
    t: &[f64],
    residuals: &[f64],
    sigma: Option<f64>,
    size: [u32; 2],
) -> Result<Option<String>, Error> {
    let range = extent(residuals.iter().copied());
    let (Some(x), Some(r)) = (extent(t.iter().copied()), range) else { return Ok(None) };
    let sigma = sigma.filter(|s| *s > 0.0 && plottable(*s)).unwrap_or(0.0);
    let reach = r[0].abs().max(r[1].abs());
    // The band is shown whole unless it is far larger than what is left over.
    let reach = reach.max((2.2 * sigma).min(3.0 * reach));
    let exponent = engineering(reach);
    let scale = 10f64.powi(exponent);
    let y = padded([-reach / scale, reach / scale], 0.06);
    let x = if x[0] == x[1] { padded(x, 0.5) } else { x };
    let text = label("residual", unit, exponent);
    svg(size, "residuals over time", |area| {
        let frame =
            Frame { x, y, x_label: "time (s)", y_label: &text, y_ticks: 5, y_format: &tick(y) };
        let mut chart = axes(area, &frame)?;
        if sigma > 0.0 {
            let s = (2.0 * sigma / scale).min(y[1]);
            let band = Rectangle::new([(x[0], -s), (x[1], s)], NOISE.filled());
            chart.draw_series([band]).map_err(failed)?;
        }
        let zero = LineSeries::new([(x[0], 0.0), (x[1], 0.0)], AXIS.stroke_width(SCALE));
        chart.draw_series(zero).map_err(failed)?;
        let scaled: Vec<f64> = residuals.iter().map(|v| v / scale).collect();
        curve(&mut chart, &pieces(t, &scaled), y, RESIDUAL.stroke_width(4))
    })
    .map(Some)
}

/// Autocorrelation of residuals by lag, with the band that 95 in 100 of white noise stay in.
pub(crate) fn autocorrelation(
    values: &[f64],
    count: usize,
    size: [u32; 2],
) -> Result<Option<String>, Error> {
    if values.len() < 2 || count == 0 {
        return Ok(None);
    }
    let x = [-0.5, values.len() as f64 - 0.5];
    let y = [-1.05, 1.05];
    svg(size, "autocorrelation of the residuals by lag", |area| {
        let frame = Frame {
            x,
            y,
            x_label: "lag (samples)",
            y_label: "autocorrelation",
            y_ticks: 5,
            y_format: &tick(y),
        };
        let mut chart = axes(area, &frame)?;
        let s = (1.96 / (count as f64).sqrt()).min(1.0);
        let band = Rectangle::new([(x[0], -s), (x[1], s)], NOISE.filled());
        chart.draw_series([band]).map_err(failed)?;
        let zero = LineSeries::new([(x[0], 0.0), (x[1], 0.0)], AXIS.stroke_width(SCALE));
        chart.draw_series(zero).map_err(failed)?;
        let bar = |(i, v): (usize, &f64)| {
            let v = v.clamp(-1.0, 1.0);
            Rectangle::new([(i as f64 - 0.3, 0.0), (i as f64 + 0.3, v)], RESIDUAL.filled())
        };
        chart.draw_series(values.iter().enumerate().map(bar)).map_err(failed)?;
        Ok(())
    })
    .map(Some)
}

/// Cost by iteration on a logarithmic axis.
pub(crate) fn cost(values: &[f64], size: [u32; 2]) -> Result<Option<String>, Error> {
    let logs: Vec<f64> =
        values.iter().map(|v| if *v > 0.0 { v.log10() } else { f64::NAN }).collect();
    let Some(range) = extent(logs.iter().copied()) else { return Ok(None) };
    if values.len() < 2 {
        return Ok(None);
    }
    let mut y = padded(range, 0.06);
    if y[1] - y[0] < 0.2 {
        y = [y[0] - 0.1, y[1] + 0.1];
    }
    let x = [0.0, (values.len() - 1) as f64];
    let decades = y[1] - y[0] >= 3.0;
    let format = |v: &f64| {
        if !decades {
            significant(10f64.powf(*v), 2)
        } else if (v - v.round()).abs() < 1e-6 {
            format!("10{}", crate::number::superscript(v.round() as i32))
        } else {
            String::new()
        }
    };
    svg(size, "cost by iteration", |area| {
        let frame =
            Frame { x, y, x_label: "iteration", y_label: "cost", y_ticks: 6, y_format: &format };
        let mut chart = axes(area, &frame)?;
        let t: Vec<f64> = (0..logs.len()).map(|i| i as f64).collect();
        let parts = pieces(&t, &logs);
        curve(&mut chart, &parts, y, FITTED.stroke_width(5))?;
        if logs.len() <= DOTS {
            let dot = |p: &[f64; 2]| Circle::new((p[0], p[1]), px(3), FITTED.filled());
            chart.draw_series(parts.iter().flatten().map(dot)).map_err(failed)?;
        }
        Ok(())
    })
    .map(Some)
}

/// One row of [`intervals`]: name, 95 % interval and start, all relative to the estimate.
pub(crate) struct Interval {
    pub name: String,
    pub ci: [f64; 2],
    pub start: f64,
}

/// Intervals of parameters, as deviations in percent of the estimate.
pub(crate) fn intervals(rows: &[Interval], width: u32) -> Result<Option<String>, Error> {
    if rows.is_empty() {
        return Ok(None);
    }
    const ROW: u32 = 26;
    const WIDEST: f64 = 300.0;
    let ends = rows.iter().flat_map(|r| r.ci).map(|v| v.abs().min(WIDEST));
    let reach = 1.15 * extent(ends).map_or(1.0, |e| e[1]).max(1e-6);
    let names = rows.iter().map(|r| r.name.chars().count()).max().unwrap_or(0) as u32;
    let name_width = (names * 7 + 16).clamp(60, 330);
    let size = [width, rows.len() as u32 * ROW + 44];
    let n = rows.len() as f64;
    svg(size, "95 % intervals relative to the estimates", |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(4))
            .margin_right(px(14))
            .x_label_area_size(px(36))
            .y_label_area_size(px(name_width))
            .build_cartesian_2d(-reach..reach, 0.0..n)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .disable_y_mesh()
            .bold_line_style(GRID.stroke_width(SCALE))
            .axis_style(AXIS.stroke_width(SCALE))
            .label_style(font(11))
            .axis_desc_style(font(12))
            .x_desc("deviation from the estimate (%)")
            .x_labels(7)
            .y_labels(0)
            .x_label_formatter(&tick([-reach, reach]))
            .draw()
            .map_err(failed)?;
        for (i, row) in rows.iter().enumerate() {
            let y = n - i as f64 - 0.5;
            let place = chart.backend_coord(&(-reach, y));
            let style = font(12).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(row.name.clone(), (place.0 - px(8) as i32, place.1), style))
                .map_err(failed)?;
            let line = FITTED.stroke_width(2 * SCALE);
            let [a, b] = row.ci.map(|v| v.clamp(-reach, reach));
            let segment = |from, to| LineSeries::new([from, to], line);
            chart.draw_series(segment((a, y), (b, y))).map_err(failed)?;
            for (end, shown) in [(row.ci[0], a), (row.ci[1], b)] {
                if end == shown {
                    let whisker = segment((shown, y - 0.2), (shown, y + 0.2));
                    chart.draw_series(whisker).map_err(failed)?;
                }
            }
            let dot = Circle::new((0.0, y), px(4), FITTED.filled());
            chart.draw_series([dot]).map_err(failed)?;
            if row.start.abs() <= reach {
                let style = INITIAL.stroke_width(2 * SCALE);
                let start = Circle::new((row.start, y), px(4), style);
                chart.draw_series([start]).map_err(failed)?;
            }
        }
        Ok(())
    })
    .map(Some)
}
