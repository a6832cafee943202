//! Forces of a fluid on a body as the box of its inertia.
//!
//! Each body counts as the box b with its mass and principal moments (bᵢ² = 6 (Iⱼ + Iₖ − Iᵢ)/m), which
//! the fluid resists in its axes: by −3πμd v and −πμd³ω, d being the mean of its edges, and by
//! −½ρ bⱼbₖ |vᵢ|vᵢ and −ρ bᵢ(bⱼ⁴ + bₖ⁴)|ωᵢ|ωᵢ/64, v being relative to the wind (MuJoCo's chapter
//! *Computation*, section *Fluid forces*, inertia model).

use std::f64::consts::PI;

use costate_num::{Scalar, Vec3};

use super::{LIGHTEST, Medium};

/// Moment about the centre of mass, and force, in the principal axes, of a body of given mass and principal moments.
pub(super) fn resistance<S: Scalar>(
    turning: Vec3<S>,
    moving: Vec3<S>,
    medium: Medium<S>,
    mass: S,
    moments: [S; 3],
) -> (Vec3<S>, Vec3<S>) {
    let Medium { density, viscosity } = medium;
    let total = moments[0] + moments[1] + moments[2];
    let edge = |i: usize| {
        let across = (total - moments[i] - moments[i]).max(S::splat(LIGHTEST));
        (across / mass).scale(6.0).sqrt()
    };
    let edges = [edge(0), edge(1), edge(2)];
    let mean = (edges[0] + edges[1] + edges[2]).scale(1.0 / 3.0);
    let turn = (viscosity * mean * mean * mean).scale(PI);
    let drag = (viscosity * mean).scale(3.0 * PI);
    let (w, v) = (turning.to_array(), moving.to_array());
    let (mut moment, mut force) = ([S::zero(); 3], [S::zero(); 3]);
    for i in 0..3 {
        let (a, b) = (edges[(i + 1) % 3], edges[(i + 2) % 3]);
        let plate = (density * a * b * v[i].abs()).scale(0.5);
        let fan = edges[i] * (a * a * a * a + b * b * b * b) * w[i].abs();
        force[i] = -(v[i] * (drag + plate));
        moment[i] = -(w[i] * (turn + (density * fan).scale(1.0 / 64.0)));
    }
    (Vec3::from_array(moment), Vec3::from_array(force))
}
