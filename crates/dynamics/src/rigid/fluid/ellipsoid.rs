//! Forces of a fluid on a geom as an ellipsoid, by five coefficients and the mass of fluid that moves with it.
//!
//! With semi-axes r, velocity v relative to the wind and angular velocity ω in the geom's axes (MuJoCo's chapter
//! *Computation*, section *Fluid forces*, ellipsoid model):
//! - what moves with it, of masses m and moments J per density: ρ (m v) × ω, and ρ ((m v) × v + (J ω) × ω);
//! - Magnus' lift C_M ρ V ω × v, V being the volume;
//! - Kutta's lift C_K ρ cos α A ((n × v) × v), n = (rⱼrₖ)² v, A = π √(Σ (rⱼrₖ)⁴v² / Σ (rⱼrₖ)²v²) the projected area and
//!   cos α = Σ (rⱼrₖ)²v² / (|v| Σ (rⱼrₖ)⁴v²);
//! - drag −v (3πμD + ρ|v| (C_B A + C_S (A_max − A))), D = ⅔ Σ r and A_max the largest area;
//! - −ω (πμD³ + ρ |ω (C_A I + C_S (I_max − I))|), I being the largest moments of the ellipsoid's discs.

use std::f64::consts::PI;

use costate_num::{Scalar, Vec3};

use super::{Medium, Part};
use crate::rigid::tree::GeomKind;

/// MuJoCo's smallest divisor.
const SMALLEST: f64 = 1e-15;

/// The semi-axes of the ellipsoid that a geom counts as.
pub(crate) fn semiaxes<S: Scalar>(kind: GeomKind, size: [S; 3]) -> [S; 3] {
    match kind {
        GeomKind::Sphere => [size[0]; 3],
        GeomKind::Capsule => [size[0], size[0], size[0] + size[1]],
        GeomKind::Cylinder => [size[0], size[0], size[1]],
        _ => size,
    }
}

/// The numbers of `geom_fluid` in the constants: five coefficients (blunt drag, slender drag, angular drag,
/// Kutta's and Magnus' lift), three masses and three moments of the fluid that moves along, per density.
pub(super) const COEFFICIENTS: usize = 11;

/// Moment about the geom's centre, and force, in its axes.
pub(super) fn resistance<S: Scalar>(
    part: Part,
    w: Vec3<S>,
    v: Vec3<S>,
    medium: Medium<S>,
    r: [S; 3],
    c: &[S],
) -> (Vec3<S>, Vec3<S>) {
    let Medium { density, viscosity } = medium;
    let [blunt, slender, angular, kutta, magnus] = [c[0], c[1], c[2], c[3], c[4]];
    let speed = v.norm();
    let largest = r[0].max(r[1]).max(r[2]);
    let least = r[0].min(r[1]).min(r[2]);
    let middle = r[0] + r[1] + r[2] - largest - least;
    let section = [r[1] * r[2], r[2] * r[0], r[0] * r[1]].map(|x| x * x);
    let (x, y) = (v.to_array(), w.to_array());
    let (mut numerator, mut denominator) = (S::zero(), S::zero());
    for i in 0..3 {
        numerator += section[i] * x[i] * x[i];
        denominator += section[i] * section[i] * x[i] * x[i];
    }
    let small = S::splat(SMALLEST);
    let area = (denominator / numerator.max(small)).sqrt().scale(PI);

    let diameter = (r[0] + r[1] + r[2]).scale(2.0 / 3.0);
    let across = (largest * middle).scale(PI) - area;
    let drag = (viscosity * diameter).scale(3.0 * PI)
        + density * speed * (area * blunt + slender * across);
    let fourth = |x: S| (x * x) * (x * x);
    let most = (middle * fourth(largest)).scale(8.0 / 15.0 * PI);
    let mut turned = [S::zero(); 3];
    for i in 0..3 {
        let wide = r[(i + 1) % 3].max(r[(i + 2) % 3]);
        let disc = (r[i] * fourth(wide)).scale(8.0 / 15.0 * PI);
        turned[i] = y[i] * (angular * disc + slender * (most - disc));
    }
    let spin = (viscosity * diameter * diameter * diameter).scale(PI)
        + density * Vec3::from_array(turned).norm();
    let (mut moment, mut force) = (-(w * spin), -(v * drag));
    if part == Part::Drag {
        return (moment, force);
    }
    let scaled = |m: &[S], u: [S; 3]| Vec3::new(m[0] * u[0], m[1] * u[1], m[2] * u[2]) * density;
    let (linear, turning) = (scaled(&c[5..8], x), scaled(&c[8..11], y));
    moment += linear.cross(v) + turning.cross(w);
    force += linear.cross(w);
    let volume = (r[0] * r[1] * r[2]).scale(4.0 / 3.0 * PI);
    force += w.cross(v) * (magnus * density * volume);
    let normal = Vec3::new(section[0] * x[0], section[1] * x[1], section[2] * x[2]);
    let cosine = numerator / (speed * denominator).max(small);
    force += normal.cross(v).cross(v) * (kutta * density * cosine * area);
    (moment, force)
}

/// Nodes and weights of the quadrature below x = ½, to eight digits as MuJoCo has them: of both signs about ½.
const NODES: [f64; 8] =
    [0.00427231, 0.02544604, 0.06756779, 0.12923441, 0.20695638, 0.29707742, 0.39610752, 0.5];
const WEIGHTS: [f64; 8] = [
    0.01146766, 0.03154605, 0.05239501, 0.07032663, 0.08450236, 0.09517529, 0.10221647, 0.10474107,
];
/// The compiler's smallest divisor.
const LEAST: f64 = 1e-14;

/// ∫ dx dy dz / √((dx² + l)³ (dy² + l) (dz² + l)) dl over positive l, over x in l = x³/(1 − x)², by Gauss and
/// Kronrod's rule of 15 points (Lamb, *Hydrodynamics* (1932), article 114).
fn integral<S: Scalar>([a, b, c]: [S; 3]) -> S {
    let [x, y, z] = [a, b, c].map(|d| (d * d).recip());
    let scale = ((a * a * a * b * c).ln().scale(0.4)).exp();
    let mut sum = S::zero();
    for i in 0..15 {
        let (node, weight) =
            if i < 8 { (NODES[i], WEIGHTS[i]) } else { (1.0 - NODES[14 - i], WEIGHTS[14 - i]) };
        let rest = 1.0 - node;
        let place = node * node * node / (rest * rest);
        let slope = node * node * (3.0 - node) / (rest * rest * rest);
        let l = scale.scale(place);
        let [u, v, w] = [x, y, z].map(|inverse| S::one() + l * inverse);
        sum += scale.scale(slope * weight) / (u * (u * v * w).sqrt());
    }
    sum * x
}

/// Masses and moments, per density, of the fluid that moves with an ellipsoid of semi-axes `d` (the chapter's
/// added mass).
pub(crate) fn added_mass<S: Scalar>(d: [S; 3]) -> [S; 6] {
    let volume = (d[0] * d[1] * d[2]).scale(4.0 / 3.0 * PI);
    let k: [S; 3] = std::array::from_fn(|i| integral([d[i], d[(i + 1) % 3], d[(i + 2) % 3]]));
    let least = S::splat(LEAST);
    let mut out = [S::zero(); 6];
    for i in 0..3 {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        out[i] = volume * k[i] / (S::splat(2.0) - k[i]).max(least);
        let (y, z) = (d[a] * d[a], d[b] * d[b]);
        let (apart, sum) = (y - z, y + z);
        let below = (apart.scale(2.0) + sum * (k[a] - k[b])).abs().max(least);
        out[3 + i] = (volume * apart * apart * (k[b] - k[a]).abs() / below).scale(0.2);
    }
    out
}
