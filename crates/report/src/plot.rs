//! Plots as inline SVG. Colours are fixed here for light pages; the style sheet replaces them by
//! attribute selectors on dark ones.

use crate::Error;
use crate::axis::Axis;
use crate::number::{engineering, label};
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

/// Axes of a plot.
struct Frame<'a> {
    x: &'a Axis,
    y: &'a Axis,
    x_label: &'a str,
    y_label: &'a str,
    /// Room for the vertical axis, CSS pixels.
    left: u32,
}

/// A chart with its axes.
struct Chart<'a, 'b> {
    context: ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>,
    x: &'a Axis,
    y: &'a Axis,
}

impl<'a, 'b> Chart<'a, 'b> {
    fn new(area: &'a Area<'b>, frame: &Frame<'a>) -> Result<Self, Error> {
        let mut context = ChartBuilder::on(area)
            .margin_top(px(8))
            .margin_right(px(14))
            .x_label_area_size(px(38))
            .y_label_area_size(px(frame.left))
            .build_cartesian_2d(frame.x.clone(), frame.y.clone())
            .map_err(failed)?;
        context
            .configure_mesh()
            .max_light_lines(0)
            .bold_line_style(GRID.stroke_width(SCALE))
            .axis_style(AXIS.stroke_width(SCALE))
            .label_style(font(12))
            .axis_desc_style(font(13))
            .x_desc(frame.x_label)
            .y_desc(frame.y_label)
            .draw()
            .map_err(failed)?;
        Ok(Self { context, x: frame.x, y: frame.y })
    }

    /// Draws curves, cut at the upper and lower bounds.
    fn curve(&mut self, parts: &[Vec<[f64; 2]>], style: ShapeStyle) -> Result<(), Error> {
        let [low, high] = self.y.bounds();
        for part in parts.iter().flat_map(|p| clip(p, low, high)) {
            if let [p] = part[..] {
                self.dots([p], 2, style.filled())?;
            } else {
                let points = part.iter().map(|p| (p[0], p[1]));
                self.context.draw_series(LineSeries::new(points, style)).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// As [`Chart::curve`], broken into dashes, unless a curve goes up and down so often that
    /// dashes could not be told apart and would only fill the file.
    fn dashes(&mut self, parts: &[Vec<[f64; 2]>], style: ShapeStyle) -> Result<(), Error> {
        const LONGEST: f64 = 30.0;
        let [low, high] = self.y.bounds();
        let rise = |w: &[[f64; 2]]| (w[1][1] - w[0][1]).abs() / (high - low);
        let length: f64 = parts.iter().flat_map(|p| p.windows(2)).map(rise).sum();
        if length > LONGEST {
            return self.curve(parts, style);
        }
        for part in parts.iter().flat_map(|p| clip(p, low, high)) {
            let points = part.iter().map(|p| (p[0], p[1]));
            let dashes = DashedLineSeries::new(points, px(5), px(4), style);
            self.context.draw_series(dashes).map_err(failed)?;
        }
        Ok(())
    }

    /// Draws circles of a radius in CSS pixels.
    fn dots(
        &mut self,
        points: impl IntoIterator<Item = [f64; 2]>,
        radius: u32,
        style: ShapeStyle,
    ) -> Result<(), Error> {
        let circle = |p: [f64; 2]| Circle::new((p[0], p[1]), px(radius), style);
        let circles = points.into_iter().map(circle);
        self.context.draw_series(circles).map_err(failed)?;
        Ok(())
    }

    /// Draws filled rectangles between opposite corners.
    fn boxes(
        &mut self,
        corners: impl IntoIterator<Item = [[f64; 2]; 2]>,
        color: RGBColor,
    ) -> Result<(), Error> {
        let place = |p: [f64; 2]| (p[0], p[1]);
        let boxes = corners.into_iter().map(|c| Rectangle::new(c.map(place), color.filled()));
        self.context.draw_series(boxes).map_err(failed)?;
        Ok(())
    }

    /// The band of what noise gives, from −`half` to `half`, and the line of zero.
    fn noise(&mut self, half: f64) -> Result<(), Error> {
        let [left, right] = self.x.bounds();
        let half = half.min(self.y.bounds()[1]);
        if half > 0.0 {
            self.boxes([[[left, -half], [right, half]]], NOISE)?;
        }
        self.curve(&[vec![[left, 0.0], [right, 0.0]]], AXIS.stroke_width(SCALE))
    }
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
    let scaled = |list: &[f64]| pieces(c.t, &list.iter().map(|v| v / unit).collect::<Vec<_>>());
    let y = Axis::linear(padded(y.map(|v| v / unit), 0.06), 6);
    let x = time(x);
    let text = label(c.name, c.unit, exponent);
    svg(size, "measured and fitted values over time", |area| {
        let frame = Frame { x: &x, y: &y, x_label: "time (s)", y_label: &text, left: 62 };
        let mut chart = Chart::new(area, &frame)?;
        let measured = scaled(c.measured);
        let few = measured.iter().map(Vec::len).sum::<usize>() <= DOTS;
        if !few {
            chart.curve(&measured, BAND.stroke_width(5 * SCALE))?;
        }
        if let Some(initial) = c.initial {
            chart.dashes(&scaled(initial), INITIAL.stroke_width(4))?;
        }
        chart.curve(&scaled(c.fitted), FITTED.stroke_width(5))?;
        if few {
            chart.dots(measured.into_iter().flatten(), 2, MEASURED.filled())?;
        }
        Ok(())
    })
    .map(Some)
}

/// The axis of time.
fn time(range: [f64; 2]) -> Axis {
    let narrow = range[1] - range[0] <= 1e-12 * range[0].abs().max(range[1].abs());
    Axis::linear(if narrow { padded(range, 0.5) } else { range }, 7)
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
    let y = Axis::linear(padded([-reach / scale, reach / scale], 0.06), 4);
    let x = time(x);
    let text = label("residual", unit, exponent);
    svg(size, "residuals over time", |area| {
        let frame = Frame { x: &x, y: &y, x_label: "time (s)", y_label: &text, left: 62 };
        let mut chart = Chart::new(area, &frame)?;
        chart.noise(2.0 * sigma / scale)?;
        let scaled: Vec<f64> = residuals.iter().map(|v| v / scale).collect();
        chart.curve(&pieces(t, &scaled), RESIDUAL.stroke_width(4))
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
    let x = Axis::whole([-0.5, values.len() as f64 - 0.5], 8);
    let y = Axis::linear([-1.05, 1.05], 4);
    svg(size, "autocorrelation of the residuals by lag", |area| {
        let frame =
            Frame { x: &x, y: &y, x_label: "lag (samples)", y_label: "autocorrelation", left: 62 };
        let mut chart = Chart::new(area, &frame)?;
        chart.noise(1.96 / (count as f64).sqrt())?;
        let bar =
            |(i, v): (usize, &f64)| [[i as f64 - 0.3, 0.0], [i as f64 + 0.3, v.clamp(-1.0, 1.0)]];
        chart.boxes(values.iter().enumerate().map(bar), RESIDUAL)
    })
    .map(Some)
}

/// Cost by iteration on a logarithmic axis, pass after pass.
pub(crate) fn cost(passes: &[Vec<f64>], size: [u32; 2]) -> Result<Option<String>, Error> {
    let log = |v: &f64| if *v > 0.0 { v.log10() } else { f64::NAN };
    let logs: Vec<Vec<f64>> = passes.iter().map(|p| p.iter().map(log).collect()).collect();
    let count = logs.iter().map(Vec::len).sum::<usize>();
    let Some(range) = extent(logs.iter().flatten().copied()) else { return Ok(None) };
    if count < 2 {
        return Ok(None);
    }
    let mut range = padded(range, 0.06);
    if range[1] - range[0] < 0.2 {
        range = [range[0] - 0.1, range[1] + 0.1];
    }
    let y = Axis::logarithmic(range);
    let x = Axis::whole([0.0, (count - 1) as f64], 8);
    svg(size, "cost by iteration", |area| {
        let frame = Frame { x: &x, y: &y, x_label: "iteration", y_label: "cost", left: 62 };
        let mut chart = Chart::new(area, &frame)?;
        let mut first = 0;
        for pass in &logs {
            let t: Vec<f64> = (first..first + pass.len()).map(|i| i as f64).collect();
            first += pass.len();
            let parts = pieces(&t, pass);
            chart.curve(&parts, FITTED.stroke_width(5))?;
            if count <= DOTS {
                chart.dots(parts.into_iter().flatten(), 3, FITTED.filled())?;
            }
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
    let n = rows.len() as f64;
    let x = Axis::linear([-reach, reach], 7);
    let y = Axis::rows(rows.len());
    let frame = Frame {
        x: &x,
        y: &y,
        x_label: "deviation from the estimate (%)",
        y_label: "",
        left: (names * 7 + 24).clamp(60, 340),
    };
    svg([width, rows.len() as u32 * ROW + 46], "95 % intervals relative to the estimates", |area| {
        let mut chart = Chart::new(area, &frame)?;
        for (i, row) in rows.iter().enumerate() {
            let y = n - i as f64 - 0.5;
            let place = chart.context.backend_coord(&(-reach, y));
            let style = font(12).pos(Pos::new(HPos::Right, VPos::Center));
            let name = Text::new(row.name.clone(), (place.0 - px(8) as i32, place.1), style);
            area.draw(&name).map_err(failed)?;
            let line = FITTED.stroke_width(2 * SCALE);
            let [a, b] = row.ci.map(|v| v.clamp(-reach, reach));
            chart.curve(&[vec![[a, y], [b, y]]], line)?;
            for (end, shown) in [(row.ci[0], a), (row.ci[1], b)] {
                if end == shown {
                    chart.curve(&[vec![[shown, y - 0.2], [shown, y + 0.2]]], line)?;
                }
            }
            chart.dots([[0.0, y]], 4, FITTED.filled())?;
            if row.start.abs() <= reach {
                chart.dots([[row.start, y]], 4, INITIAL.stroke_width(2 * SCALE))?;
            }
        }
        Ok(())
    })
    .map(Some)
}
