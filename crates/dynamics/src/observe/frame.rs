//! The frame of a measuring system, applied to an observation.

use costate_num::{DualN, Mat3, Quat, Vec3};

use super::local::{Block, Local};

/// How an observation's components change with the frame they are measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A position: turned, scaled and moved.
    Position,
    /// A difference of positions or its rates: turned and scaled.
    Displacement,
    /// A vector without a length in it, as a force: turned.
    Vector,
    /// A distance: scaled.
    Length,
    /// A rotation vector: the frame's turn follows.
    Orientation,
    /// The same in every frame.
    Invariant,
}

/// Places of a frame's parameters: rotation vector, translation, scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct FramePlace {
    pub rotation: usize,
    pub translation: usize,
    pub scale: usize,
}

/// A frame at given parameters: its turn R and the derivatives of R by the rotation vector.
pub(super) struct FrameNow {
    place: FramePlace,
    turn: Mat3<f64>,
    turn_slopes: [Mat3<f64>; 3],
    rotation: Vec3<f64>,
    translation: Vec3<f64>,
    scale: f64,
}

type D = DualN<f64, 6>;

fn seed(v: Vec3<f64>, first: usize) -> Vec3<D> {
    Vec3::new(D::variable(v.x, first), D::variable(v.y, first + 1), D::variable(v.z, first + 2))
}

fn rows(m: Mat3<f64>) -> Block {
    let r = m.to_rows();
    [[r[0], r[1], r[2]], [r[3], r[4], r[5]], [r[6], r[7], r[8]]]
}

impl FramePlace {
    /// The frame at the parameters `p`.
    pub fn now(&self, p: &[f64]) -> FrameNow {
        let vec3 = |i: usize| Vec3::new(p[i], p[i + 1], p[i + 2]);
        let rotation = vec3(self.rotation);
        let turn = Quat::from_rotation_vector(seed(rotation, 0)).to_matrix().to_rows();
        FrameNow {
            place: *self,
            turn: Mat3::from_rows(turn.map(|x| x.value)),
            turn_slopes: [0, 1, 2].map(|k: usize| Mat3::from_rows(turn.map(|x| x.tangent[k]))),
            rotation,
            translation: vec3(self.translation),
            scale: p[self.scale],
        }
    }
}

impl FrameNow {
    /// Replaces an observation in the model's frame by the same in this one.
    pub fn apply(&self, kind: Kind, derivatives: bool, inner: &Local, out: &mut Local) {
        let value = Vec3::from_array(inner.value);
        match kind {
            Kind::Position => {
                self.linear(self.scale, derivatives, inner, out);
                out.value = (Vec3::from_array(out.value) + self.translation).to_array();
                if derivatives {
                    let columns = rows(Mat3::identity());
                    self.push(self.place.translation, columns, out);
                    self.push_scale(self.turn.apply(value), out);
                }
            }
            Kind::Displacement => {
                self.linear(self.scale, derivatives, inner, out);
                if derivatives {
                    self.push_scale(self.turn.apply(value), out);
                }
            }
            Kind::Vector => self.linear(1.0, derivatives, inner, out),
            Kind::Length => {
                out.value = (value * self.scale).to_array();
                if derivatives {
                    out.chain(&rows(Mat3::identity() * self.scale), inner);
                    self.push_scale(value, out);
                }
            }
            Kind::Orientation => self.orientation(derivatives, inner, out),
            Kind::Invariant => out.clone_from(inner),
        }
    }

    /// `factor` R x.
    fn linear(&self, factor: f64, derivatives: bool, inner: &Local, out: &mut Local) {
        let value = Vec3::from_array(inner.value);
        let matrix = self.turn * factor;
        out.value = matrix.apply(value).to_array();
        if derivatives {
            out.chain(&rows(matrix), inner);
            let columns = self.turn_slopes.map(|m| (m.apply(value) * factor).to_array());
            self.push(self.place.rotation, columns, out);
        }
    }

    /// The rotation vector of R times the turn of another one.
    fn orientation(&self, derivatives: bool, inner: &Local, out: &mut Local) {
        let turn = Quat::from_rotation_vector(seed(self.rotation, 3));
        let inner_turn = Quat::from_rotation_vector(seed(Vec3::from_array(inner.value), 0));
        let image = turn.product(inner_turn).to_rotation_vector().to_array();
        out.value = image.map(|x| x.value);
        if derivatives {
            out.chain(&image.map(|x| [x.tangent[0], x.tangent[1], x.tangent[2]]), inner);
            let columns = [3, 4, 5].map(|k: usize| image.map(|x| x.tangent[k]));
            self.push(self.place.rotation, columns, out);
        }
    }

    /// Derivatives by three parameters from `first` on.
    fn push(&self, first: usize, columns: [[f64; 3]; 3], out: &mut Local) {
        out.p.extend(columns.iter().enumerate().map(|(k, slope)| ((first + k) as u32, *slope)));
    }

    fn push_scale(&self, slope: Vec3<f64>, out: &mut Local) {
        out.p.push((self.place.scale as u32, slope.to_array()));
    }
}
