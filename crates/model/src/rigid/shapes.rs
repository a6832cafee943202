//! Volume and inertia of shapes, solid and hollow.

use std::f64::consts::PI;

use costate_num::{Scalar, Vec3};

use super::Form;

/// Exponent of Thomsen's approximation to the area of an ellipsoid, as MuJoCo has it.
const THOMSEN: f64 = 1.6075;

/// Thickness of the layer whose inertia stands for that of an ellipsoid's surface, m: MuJoCo's own
/// approximation, a layer of even thickness along each half axis.
const LAYER: f64 = 1e-6;

/// Volume, m³, or area, m², of a shape of the given size; not for planes and meshes, which are zero.
pub fn extent<S: Scalar>(form: Form, shell: bool, [a, b, c]: [S; 3]) -> S {
    let n = S::splat;
    match (form, shell) {
        (Form::Sphere, false) => a * a * a * n(4.0 * PI / 3.0),
        (Form::Sphere, true) => a * a * n(4.0 * PI),
        (Form::Capsule, false) => a * a * (b * n(2.0) + a * n(4.0 / 3.0)) * n(PI),
        (Form::Capsule, true) => a * (a + b) * n(4.0 * PI),
        (Form::Cylinder, false) => a * a * b * n(2.0 * PI),
        (Form::Cylinder, true) => a * (a + b * n(2.0)) * n(2.0 * PI),
        (Form::Ellipsoid, false) => a * b * c * n(4.0 * PI / 3.0),
        (Form::Ellipsoid, true) => {
            let p = |x: S| (x.ln() * n(THOMSEN)).exp();
            let mean = (p(a * b) + p(a * c) + p(b * c)) * n(1.0 / 3.0);
            (mean.ln() * n(1.0 / THOMSEN)).exp() * n(4.0 * PI)
        }
        (Form::Box, false) => a * b * c * n(8.0),
        (Form::Box, true) => (a * b + b * c + c * a) * n(8.0),
        (Form::Plane | Form::Mesh(_) | Form::HeightField(_), _) => S::zero(),
    }
}

/// Principal inertias per mass about the centre, m², of a shape of the given size.
pub fn principal<S: Scalar>(form: Form, shell: bool, [a, b, c]: [S; 3]) -> Vec3<S> {
    let n = S::splat;
    let round = |across: S, along: S| Vec3::new(across, across, along);
    match (form, shell) {
        (Form::Sphere, false) => round(a * a * n(0.4), a * a * n(0.4)),
        (Form::Sphere, true) => round(a * a * n(2.0 / 3.0), a * a * n(2.0 / 3.0)),
        (Form::Capsule, false) => {
            let h = b * n(2.0);
            let caps = a * n(4.0) / (a * n(4.0) + h * n(3.0));
            let middle = S::one() - caps;
            let across = middle * (a * a * n(3.0) + h * h) * n(1.0 / 12.0)
                + caps * (a * a * n(0.4) + h * (a * n(3.0) + h * n(2.0)) * n(0.125));
            round(across, middle * a * a * n(0.5) + caps * a * a * n(0.4))
        }
        (Form::Capsule, true) => {
            let h = b * n(2.0);
            let caps = a / (a + b);
            let middle = S::one() - caps;
            let across = middle * (a * a * n(6.0) + h * h) * n(1.0 / 12.0)
                + caps * (a * a * n(2.0 / 3.0) + h * (h + a * n(2.0)) * n(0.25));
            round(across, middle * a * a + caps * a * a * n(2.0 / 3.0))
        }
        (Form::Cylinder, false) => {
            let h = b * n(2.0);
            round((a * a * n(3.0) + h * h) * n(1.0 / 12.0), a * a * n(0.5))
        }
        (Form::Cylinder, true) => {
            let h = b * n(2.0);
            let discs = a / (a + h);
            let side = S::one() - discs;
            let across =
                side * (a * a * n(6.0) + h * h) * n(1.0 / 12.0) + discs * (a * a + h * h) * n(0.25);
            round(across, side * a * a + discs * a * a * n(0.5))
        }
        (Form::Ellipsoid, false) => {
            let about = |p: S, q: S| (p * p + q * q) * n(0.2);
            Vec3::new(about(b, c), about(a, c), about(a, b))
        }
        (Form::Ellipsoid, true) => {
            let layer = n(LAYER);
            let outer = (a + layer) * (b + layer) * (c + layer);
            // The layer's volume over its thickness.
            let faces = a * b + b * c + c * a + (a + b + c + layer) * layer;
            let about =
                |p: S, q: S| (p * p + q * q + outer / faces * (p + q + layer) * n(2.0)) * n(0.2);
            Vec3::new(about(b, c), about(a, c), about(a, b))
        }
        (Form::Box, false) => {
            let about = |p: S, q: S| (p * p + q * q) * n(1.0 / 3.0);
            Vec3::new(about(b, c), about(a, c), about(a, b))
        }
        (Form::Box, true) => {
            let total = a * b + b * c + c * a;
            let share = [b * c / total, c * a / total, a * b / total];
            let size = [a, b, c];
            // Second moments per mass: on the two faces across an axis all mass is at that distance.
            let mut moment = [S::zero(); 3];
            for axis in 0..3 {
                for face in 0..3 {
                    let factor = if face == axis { 1.0 } else { 1.0 / 3.0 };
                    moment[axis] += share[face] * size[axis] * size[axis] * n(factor);
                }
            }
            let [x, y, z] = moment;
            Vec3::new(y + z, x + z, x + y)
        }
        (Form::Plane | Form::Mesh(_) | Form::HeightField(_), _) => Vec3::zero(),
    }
}
