//! A marker that stands off a surface triangle.

use costate_model::Leaf;
use costate_num::{Dual, DualN, Mat3, Scalar, Vec3};

use super::attach::nearest;
use super::compile::{Compiler, invalid};
use super::local::{Local, Moment};
use crate::error::DynamicsError;

/// A marker: foot at fixed barycentric coordinates, offset in the triangle's frame.
#[derive(Clone, Debug)]
pub(super) struct Marker {
    triangle: [u32; 3],
    weights: [f64; 3],
    /// Place of the offset among the observer's parameters.
    offset: usize,
}

/// The frame of three points: along the first edge, across it in their plane, along the normal.
/// Of points on one line the last two are zero.
pub(super) fn triangle_frame<S: Scalar>(x: &[Vec3<S>; 3]) -> Mat3<S> {
    let edge = x[1] - x[0];
    let (along, _) = edge.normalize();
    let (normal, _) = edge.cross(x[2] - x[0]).normalize();
    Mat3::from_columns(along, normal.cross(along), normal)
}

/// Number of inputs: three vertices and the offset.
const INPUTS: usize = 12;

impl Marker {
    fn place<S: Scalar>(&self, x: &[Vec3<S>; 3], offset: Vec3<S>) -> Vec3<S> {
        let [a, b, c] = self.weights;
        let foot = x[0] * S::splat(a) + x[1] * S::splat(b) + x[2] * S::splat(c);
        foot + triangle_frame(x).apply(offset)
    }

    fn offset(&self, at: &Moment) -> [f64; 3] {
        let p = &at.at.p[self.offset..self.offset + 3];
        [p[0], p[1], p[2]]
    }

    /// Writes the position.
    pub fn position(&self, at: &Moment, out: &mut Local) {
        let x = self.triangle.map(|i| at.x(i).to_array());
        let offset = self.offset(at);
        if !at.derivatives {
            let x = x.map(Vec3::from_array);
            out.value = self.place(&x, Vec3::from_array(offset)).to_array();
            return;
        }
        let seed = |values: [f64; 3], first: usize| {
            Vec3::from_array(
                [0, 1, 2].map(|k: usize| DualN::<f64, INPUTS>::variable(values[k], first + k)),
            )
        };
        let x = [seed(x[0], 0), seed(x[1], 3), seed(x[2], 6)];
        let place = self.place(&x, seed(offset, 9)).to_array();
        out.value = place.map(|c| c.value);
        self.push(place.map(|c| c.tangent), out);
    }

    /// Writes the velocity: the tangent of the position along the vertices' velocities, whose
    /// own derivatives come from a second layer of duals.
    pub fn velocity(&self, at: &Moment, out: &mut Local) {
        let seed = |x: [f64; 3], v: [f64; 3], first: usize| {
            Vec3::from_array([0, 1, 2].map(|k: usize| {
                DualN::<Dual<f64>, INPUTS>::variable(Dual::new(x[k], v[k]), first + k)
            }))
        };
        let vertex = |n: usize| {
            let i = self.triangle[n];
            seed(at.x(i).to_array(), at.v(i).to_array(), 3 * n)
        };
        let offset = seed(self.offset(at), [0.0; 3], 9);
        let place = self.place(&[vertex(0), vertex(1), vertex(2)], offset).to_array();
        out.value = place.map(|c| c.value.tangent[0]);
        if at.derivatives {
            let slopes = place.map(|c| c.tangent.map(|t| t.tangent[0]));
            self.push(slopes, out);
            for (n, &i) in self.triangle.iter().enumerate() {
                let block = place.map(|c| [0, 1, 2].map(|k: usize| c.tangent[3 * n + k].value));
                out.v.push((i, block));
            }
        }
    }

    fn push(&self, slopes: [[f64; INPUTS]; 3], out: &mut Local) {
        for (n, &i) in self.triangle.iter().enumerate() {
            let block = slopes.map(|row| [row[3 * n], row[3 * n + 1], row[3 * n + 2]]);
            out.x.push((i, block));
        }
        for k in 0..3 {
            out.p.push(((self.offset + k) as u32, slopes.map(|row| row[9 + k])));
        }
    }
}

impl Compiler<'_> {
    /// Attaches a marker to the nearest surface triangle and adds its offset as a leaf.
    pub(super) fn marker(
        &mut self,
        name: &str,
        body: &str,
        rest: [f64; 3],
    ) -> Result<Marker, DynamicsError> {
        let element = format!("marker.{name}");
        let (first, soft) = self.body(body)?;
        let positions = &self.model().leaves.get(soft.rest_position).values;
        let found = nearest(&soft.surface, positions, rest).ok_or_else(|| {
            invalid(&element, format!("soft.{body} has no surface that it could be attached to"))
        })?;
        let x = found.triangle.map(|v| {
            let i = 3 * v as usize;
            Vec3::new(positions[i], positions[i + 1], positions[i + 2])
        });
        let [a, b, c] = found.weights;
        let arm = Vec3::from_array(rest) - (x[0] * a + x[1] * b + x[2] * c);
        let offset = triangle_frame(&x).apply_transposed(arm);
        let leaf = Leaf::array(
            format!("{element}.offset"),
            offset.to_array().to_vec(),
            vec![3],
            "m",
            "offset from its foot on the surface: along the triangle's first edge, across it, \
             along its normal",
        );
        let triangle = found.triangle.map(|v| v + first);
        Ok(Marker { triangle, weights: found.weights, offset: self.add(leaf)? })
    }
}
