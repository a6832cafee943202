//! The frame of a measuring system, applied to an observation.

use costate_num::{DualN, Quat, Scalar, Vec3};

use super::local::{Local, Moment};

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

fn transform<S: Scalar>(kind: Kind, value: Vec3<S>, rotation: Vec3<S>, scale: S) -> Vec3<S> {
    let turn = Quat::from_rotation_vector(rotation);
    match kind {
        Kind::Position | Kind::Displacement => turn.rotate(value) * scale,
        Kind::Vector => turn.rotate(value),
        Kind::Length => value * scale,
        Kind::Orientation => turn.product(Quat::from_rotation_vector(value)).to_rotation_vector(),
        Kind::Invariant => value,
    }
}

impl FramePlace {
    /// Replaces an observation in the model's frame by the same in this one.
    pub fn apply(&self, kind: Kind, at: &Moment, inner: &Local, out: &mut Local) {
        let p = at.at.p;
        let vec3 = |i: usize| Vec3::new(p[i], p[i + 1], p[i + 2]);
        let variable = |v: Vec3<f64>, i: usize| {
            let [x, y, z] = v.to_array();
            Vec3::new(
                DualN::<f64, 7>::variable(x, i),
                DualN::variable(y, i + 1),
                DualN::variable(z, i + 2),
            )
        };
        let image = transform(
            kind,
            variable(Vec3::from_array(inner.value), 0),
            variable(vec3(self.rotation), 3),
            DualN::variable(p[self.scale], 6),
        )
        .to_array();
        for a in 0..3 {
            out.value[a] = image[a].value;
            if kind == Kind::Position {
                out.value[a] += p[self.translation + a];
            }
        }
        if !at.derivatives {
            return;
        }
        let slope = |i: usize| [0, 1, 2].map(|a: usize| image[a].tangent[i]);
        out.chain(&[0, 1, 2].map(|a: usize| [0, 1, 2].map(|b: usize| image[a].tangent[b])), inner);
        for a in 0..3 {
            out.p.push(((self.rotation + a) as u32, slope(3 + a)));
            if kind == Kind::Position {
                let mut unit = [0.0; 3];
                unit[a] = 1.0;
                out.p.push(((self.translation + a) as u32, unit));
            }
        }
        out.p.push((self.scale as u32, slope(6)));
    }
}
