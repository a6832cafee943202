//! Height field and convex shape: the shape against each prism between a triangle of the grid and the bottom,
//! one contact for each that is near enough.

use costate_model::rigid::HeightField;
use costate_num::{Mat3, Vec3};

use super::surface::Core;
use super::{Real, Shape, Surface, Touch, convex};

/// Most contacts, as in MuJoCo.
const MOST: usize = 50;

pub(super) fn touch<S: Real>(
    a: &Surface<'_, S>,
    b: &Surface<'_, S>,
    margin: S,
    out: &mut Vec<Touch<S>>,
) {
    let Some(field) = a.field else { return };
    let Some([low, high]) = extent(field, a, b, margin.value()) else { return };
    let [columns, rows] = cells(field, low, high);
    let first = out.len();
    for row in rows {
        for column in columns.clone() {
            for top in field.triangles(row, column) {
                if top.iter().all(|corner| corner[2] < low[2]) {
                    continue;
                }
                let bottom = top.map(|[x, y, _]| [x, y, -field.depth]);
                let prism = [bottom[0], bottom[1], bottom[2], top[0], top[1], top[2]];
                let part = Surface { corners: Some(&prism), ..*a };
                out.extend(convex::nearest(&part, b, margin));
                if out.len() - first >= MOST {
                    return;
                }
            }
        }
    }
}

/// The box about the shape, with the margin, in the field's axes; none where it is beyond the field.
fn extent<S: Real>(
    field: &HeightField,
    a: &Surface<'_, S>,
    b: &Surface<'_, S>,
    margin: f64,
) -> Option<[[f64; 3]; 2]> {
    let (ground, plain) = (a.shape.values(), b.shape.values());
    let [x, y, z] = plain.axes.columns.map(|axis| ground.axes.apply_transposed(axis));
    let shape = Shape {
        position: ground.axes.apply_transposed(plain.position - ground.position),
        axes: Mat3::from_columns(x, y, z),
        size: plain.size,
    };
    let core = Core::new(Surface { hull: b.hull, ..Surface::new(b.kind, &shape) });
    let mut ends = [[0.0; 3]; 2];
    for k in 0..3 {
        for (end, sign) in ends.iter_mut().zip([-1.0, 1.0]) {
            let mut direction = [0.0; 3];
            direction[k] = sign;
            let (point, _) = core.support(Vec3::from_array(direction), 0);
            end[k] = point.to_array()[k] + sign * (core.radius + margin);
        }
    }
    let [low, high] = ends;
    let [w, h] = field.half;
    let top = field.heights.iter().fold(0.0f64, |m, x| m.max(*x));
    let beyond = low[0] > w || high[0] < -w || low[1] > h || high[1] < -h;
    (!beyond && low[2] <= top && high[2] >= -field.depth).then_some(ends)
}

/// Columns and rows of cells below a box.
fn cells(field: &HeightField, low: [f64; 3], high: [f64; 3]) -> [std::ops::Range<usize>; 2] {
    let counts = [field.columns, field.rows];
    [0, 1].map(|k| {
        let last = counts[k] - 1;
        let place = |x: f64| (x + field.half[k]) / (2.0 * field.half[k]) * last as f64;
        // A cast to a whole number saturates.
        let from = place(low[k]).floor().max(0.0) as usize;
        let to = place(high[k]).ceil().max(0.0) as usize;
        from.min(last)..to.min(last)
    })
}
