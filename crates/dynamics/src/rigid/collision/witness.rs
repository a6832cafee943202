//! Where two convex surfaces are nearest, or deepest in each other, as a function of their places and sizes.
//!
//! A search finds which features of the two are involved: a corner, an edge, a face, a round part. The
//! normal n, the signed distance d and the places u and v within the features then solve
//!
//! ```text
//! b(v, −n) − a(u, n) = d n,   n·n = 1,   n·∂a/∂u = 0,   n·∂b/∂v = 0,
//! ```
//!
//! which has a solution at touch, too, unlike the distance of points. Newton's method sharpens what was found;
//! its last step, with the residual as a function of places and sizes, gives the derivatives of the solution
//! (implicit function theorem).

use costate_num::{DualN, Mat3, Vec3};

use super::few::Few;
use super::gjk::Simplex;
use super::surface::{Core, Surface};
use super::{Real, SMALLEST};
use crate::rigid::tree::GeomKind;

/// Most unknowns: normal, distance, two places on one feature or one on each.
const MOST: usize = 6;
/// Steps of Newton's method.
const STEPS: usize = 12;
/// Residuals below this share of the extent are none.
const SOLVED: f64 = 1e-13;
/// By how much of the extent a feature may miss being the farthest along the normal; faces of hulls are flat to
/// 1e-7.
const SUPPORTING: f64 = 1e-6;
/// A pivot of the equations below this share of its row is none: edges are parallel.
const SINGULAR: f64 = 1e-8;
/// A direction whose part across a cylinder's axis is less is along the axis.
const ALONG_AXIS: f64 = 1e-6;
/// By how much of a feature's size a place on it may be beyond its end.
const BEYOND: f64 = 1e-6;
/// How far the distance may be from what was found before, in shares of the extent: of polytopes and of round sets.
const SAME_DISTANCE: [f64; 2] = [1e-6, 1e-2];

/// A part of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// A corner, by its number.
    Corner(usize),
    /// The line through two corners.
    Edge([usize; 2]),
    /// The plane through three corners.
    Face([usize; 3]),
    /// The side of a cylinder.
    Side,
    /// An end of a cylinder, and whether it is the upper one.
    Cap(bool),
    /// The rim of an end of a cylinder.
    Rim(bool),
    /// All of an ellipsoid.
    Whole,
}

/// What a feature adds along the outward direction.
#[derive(Clone, Copy, Debug)]
enum Round<S> {
    /// A ball.
    Ball(S),
    /// A circle about an axis.
    Circle(Vec3<S>, S),
    /// An ellipsoid.
    Ellipsoid(Mat3<S>, Vec3<S>),
}

/// A part of a surface in space: origin + Σ uₖ tangentₖ + what is round.
#[derive(Clone, Copy, Debug)]
struct Feature<S> {
    origin: Vec3<S>,
    tangents: [Vec3<S>; 2],
    places: usize,
    round: Round<S>,
}

impl Part {
    fn places(self) -> usize {
        match self {
            Self::Corner(_) | Self::Rim(_) | Self::Whole => 0,
            Self::Edge(_) | Self::Side => 1,
            Self::Face(_) | Self::Cap(_) => 2,
        }
    }

    fn feature<S: Real>(self, surface: &Surface<'_, S>, radius: S) -> Feature<S> {
        let shape = surface.shape;
        let [x, y, z] = shape.axes.columns;
        let zero = Vec3::zero();
        let end =
            |upper: bool| shape.position + z * if upper { shape.size.y } else { -shape.size.y };
        let ball = Round::Ball(radius);
        let circle = Round::Circle(z, shape.size.x);
        let none = Round::Ball(S::zero());
        let (origin, tangents, round) = match self {
            Self::Corner(a) => (surface.corner(a), [zero; 2], ball),
            Self::Edge([a, b]) => {
                let origin = surface.corner(a);
                (origin, [surface.corner(b) - origin, zero], ball)
            }
            Self::Face([a, b, c]) => {
                let origin = surface.corner(a);
                (origin, [surface.corner(b) - origin, surface.corner(c) - origin], ball)
            }
            Self::Side => (shape.position, [z * shape.size.y, zero], circle),
            Self::Cap(upper) => (end(upper), [x * shape.size.x, y * shape.size.x], none),
            Self::Rim(upper) => (end(upper), [zero; 2], circle),
            Self::Whole => (shape.position, [zero; 2], Round::Ellipsoid(shape.axes, shape.size)),
        };
        Feature { origin, tangents, places: self.places(), round }
    }

    /// Whether places are within the part.
    fn holds(self, u: [f64; 2]) -> bool {
        let end = 1.0 + BEYOND;
        let within = |x: f64| (-BEYOND..=end).contains(&x);
        match self {
            // A face of a polytope may have more corners than three.
            Self::Corner(_) | Self::Rim(_) | Self::Whole | Self::Face(_) => true,
            Self::Edge(_) => within(u[0]),
            Self::Side => u[0].abs() <= end,
            Self::Cap(_) => u[0] * u[0] + u[1] * u[1] <= end,
        }
    }

    /// The parts of a surface that may be nearest, the likeliest first.
    fn candidates(
        core: &Core<'_>,
        simplex: &Simplex,
        which: usize,
        outward: Vec3<f64>,
    ) -> Few<Self, 8> {
        let mut parts = Few::new(Self::Whole);
        match core.surface.kind {
            GeomKind::Ellipsoid => {
                parts.push(Self::Whole);
                return parts;
            }
            GeomKind::Cylinder => {
                let along = core.surface.shape.axes.columns[2].dot(outward);
                let upper = along > 0.0;
                // A direction along the axis says nothing of where on the rim.
                if (1.0 - along * along).max(0.0).sqrt() < ALONG_AXIS {
                    parts.push(Self::Cap(upper));
                } else if along.abs() > 0.99 {
                    parts.extend([Self::Cap(upper), Self::Rim(upper)]);
                } else if along.abs() < 0.1 {
                    parts.extend([Self::Side, Self::Rim(upper)]);
                } else {
                    parts.push(Self::Rim(upper));
                }
                return parts;
            }
            _ => {}
        }
        let mut ids = Few::<usize, 4>::new(0);
        for k in 0..simplex.count {
            let id = simplex.corners[k].ids[which];
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if let [a, b, c, ..] = ids[..] {
            parts.push(Self::Face([a, b, c]));
        }
        for i in 0..ids.len() {
            for j in i + 1..ids.len() {
                parts.push(Self::Edge([ids[i], ids[j]]));
            }
        }
        parts.extend(ids.iter().copied().map(Self::Corner));
        parts
    }
}

fn lifted<S: Real>(v: Vec3<f64>) -> Vec3<S> {
    Vec3::new(S::splat(v.x), S::splat(v.y), S::splat(v.z))
}

impl Feature<f64> {
    fn lift<S: Real>(&self) -> Feature<S> {
        let round = match self.round {
            Round::Ball(radius) => Round::Ball(S::splat(radius)),
            Round::Circle(axis, radius) => Round::Circle(lifted(axis), S::splat(radius)),
            Round::Ellipsoid(axes, size) => {
                let [x, y, z] = axes.columns.map(lifted);
                Round::Ellipsoid(Mat3::from_columns(x, y, z), lifted(size))
            }
        };
        Feature {
            origin: lifted(self.origin),
            tangents: self.tangents.map(lifted),
            places: self.places,
            round,
        }
    }
}

impl<S: Real> Feature<S> {
    /// Its point at places u whose outward direction is m.
    fn point(&self, u: [S; 2], m: Vec3<S>) -> Vec3<S> {
        let mut point = self.origin;
        for k in 0..self.places {
            point += self.tangents[k] * u[k];
        }
        point
            + match self.round {
                Round::Ball(radius) => m * radius,
                Round::Circle(axis, radius) => (m - axis * axis.dot(m)).normalize().0 * radius,
                Round::Ellipsoid(axes, size) => {
                    let scaled = axes.apply_transposed(m).component_mul(size);
                    axes.apply(scaled.normalize().0.component_mul(size))
                }
            }
    }
}

/// Normal, distance, places on the first and the second feature.
struct Unknowns<S> {
    normal: Vec3<S>,
    distance: S,
    first: [S; 2],
    second: [S; 2],
}

fn unpack<S: Real>(z: &[S; MOST], places: [usize; 2]) -> Unknowns<S> {
    let mut parts = [[S::zero(); 2]; 2];
    let mut at = 4;
    for (part, count) in parts.iter_mut().zip(places) {
        for place in part.iter_mut().take(count) {
            *place = z[at];
            at += 1;
        }
    }
    let normal = Vec3::new(z[0], z[1], z[2]);
    Unknowns { normal, distance: z[3], first: parts[0], second: parts[1] }
}

fn residual<S: Real>(features: &[Feature<S>; 2], z: &[S; MOST]) -> [S; MOST] {
    let [a, b] = features;
    let at = unpack(z, [a.places, b.places]);
    let n = at.normal;
    let gap = b.point(at.second, -n) - a.point(at.first, n) - n * at.distance;
    let mut r = [S::zero(); MOST];
    r[..3].copy_from_slice(&gap.to_array());
    r[3] = (n.norm_squared() - S::one()).scale(0.5);
    let mut row = 4;
    for feature in features {
        for k in 0..feature.places {
            r[row] = n.dot(feature.tangents[k]);
            row += 1;
        }
    }
    r
}

type Matrix = [[f64; MOST]; MOST];

/// The inverse of the derivative of the residual; none where it has none.
fn inverse_derivative(features: &[Feature<f64>; 2], z: &[f64; MOST]) -> Option<Matrix> {
    type D = DualN<f64, MOST>;
    let count = 4 + features[0].places + features[1].places;
    let mut lanes = [D::constant(0.0); MOST];
    for (k, lane) in lanes.iter_mut().enumerate() {
        *lane = D::variable(z[k], k);
    }
    let rows = residual(&[features[0].lift(), features[1].lift()], &lanes);
    let (mut m, mut inverse) = ([[0.0; MOST]; MOST], [[0.0; MOST]; MOST]);
    for i in 0..count {
        m[i] = rows[i].tangent;
        inverse[i][i] = 1.0;
    }
    let largest = |row: &[f64; MOST]| row[..count].iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let scales = m.map(|row| largest(&row));
    for column in 0..count {
        let weight = |i: usize| m[i][column].abs() / scales[i].max(f64::MIN_POSITIVE);
        let mut pivot = column;
        for i in column + 1..count {
            if weight(i) > weight(pivot) {
                pivot = i;
            }
        }
        if weight(pivot).is_nan() || weight(pivot) <= SINGULAR {
            return None;
        }
        m.swap(column, pivot);
        inverse.swap(column, pivot);
        let scale = 1.0 / m[column][column];
        for k in 0..count {
            m[column][k] *= scale;
            inverse[column][k] *= scale;
        }
        for i in (0..count).filter(|&i| i != column) {
            let factor = m[i][column];
            for k in 0..count {
                m[i][k] -= factor * m[column][k];
                inverse[i][k] -= factor * inverse[column][k];
            }
        }
    }
    Some(inverse)
}

fn step<S: Real>(z: &[f64; MOST], inverse: &Matrix, r: &[S; MOST], count: usize) -> [S; MOST] {
    let mut next = [S::zero(); MOST];
    for i in 0..count {
        next[i] = S::splat(z[i]);
        for k in 0..count {
            next[i] -= r[k].scale(inverse[i][k]);
        }
    }
    next
}

/// What a search found, without derivatives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// From the first to the second.
    pub normal: Vec3<f64>,
    /// Between the surfaces, negative in overlap.
    pub distance: f64,
    /// The points of the cores.
    pub points: [Vec3<f64>; 2],
    /// The corners that they are between.
    pub simplex: Simplex,
}

/// Features that solve the equations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Witness {
    parts: [Part; 2],
    z: [f64; MOST],
    inverse: Matrix,
}

/// The nearest points with their derivatives.
pub(super) struct Nearest<S> {
    pub normal: Vec3<S>,
    pub distance: S,
    /// Midway between the surfaces.
    pub middle: Vec3<S>,
}

impl Witness {
    /// The features at what was found. None where the surfaces are parallel to each other or a search went
    /// astray: then what was found is all there is.
    pub fn at(cores: [&Core<'_>; 2], found: &Found) -> Option<Self> {
        let n = found.normal;
        let parts = [
            Part::candidates(cores[0], &found.simplex, 0, n),
            Part::candidates(cores[1], &found.simplex, 1, -n),
        ];
        // The more places, the better determined is the normal.
        for places in [2, 1, 0] {
            for &a in parts[0].iter() {
                for &b in parts[1].iter().filter(|b| a.places() + b.places() == places) {
                    if let Some(witness) = Self::solve(cores, found, [a, b]) {
                        return Some(witness);
                    }
                }
            }
        }
        None
    }

    fn solve(cores: [&Core<'_>; 2], found: &Found, parts: [Part; 2]) -> Option<Self> {
        let features = [0, 1].map(|k| parts[k].feature(&cores[k].surface, cores[k].radius));
        let places = features.map(|feature| feature.places);
        let count = 4 + places[0] + places[1];
        let extent = cores[0].extent() + cores[1].extent();
        let mut z = [0.0; MOST];
        z[..3].copy_from_slice(&found.normal.to_array());
        z[3] = found.distance;
        let mut at = 4;
        for (k, feature) in features.iter().enumerate() {
            for place in start(feature, found.points[k]).into_iter().take(feature.places) {
                z[at] = place;
                at += 1;
            }
        }
        let mut inverse = [[0.0; MOST]; MOST];
        for _ in 0..STEPS {
            inverse = inverse_derivative(&features, &z)?;
            let r = residual(&features, &z);
            z = step(&z, &inverse, &r, count);
            let size = r.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            if !size.is_finite() {
                return None;
            }
            if size < SOLVED * extent.max(1.0) {
                break;
            }
        }
        let r = residual(&features, &z);
        let size = r.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let at = unpack(&z, places);
        let round = !(cores[0].is_polytope() && cores[1].is_polytope());
        let near = SAME_DISTANCE[usize::from(round)] * extent;
        let solved = size < 1e3 * SOLVED * extent.max(1.0)
            && (at.distance - found.distance).abs() <= near
            && parts[0].holds(at.first)
            && parts[1].holds(at.second);
        let sides = [(at.normal, at.first), (-at.normal, at.second)];
        let supports = (0..2).all(|k| {
            let (outward, place) = sides[k];
            let (most, _) = cores[k].support(outward, found.simplex.corners[0].ids[k]);
            let own = features[k].point(place, outward) - outward * cores[k].radius;
            (most - own).dot(outward) <= SUPPORTING * extent
        });
        (solved && supports).then_some(Self { parts, z, inverse })
    }

    /// The normal, without derivatives.
    pub fn normal(&self) -> Vec3<f64> {
        Vec3::new(self.z[0], self.z[1], self.z[2])
    }

    /// The distance, without derivatives.
    pub fn distance(&self) -> f64 {
        self.z[3]
    }

    /// The nearest points as a function of the surfaces' places and sizes.
    pub fn nearest<S: Real>(&self, surfaces: [&Surface<'_, S>; 2], radii: [S; 2]) -> Nearest<S> {
        let features = [0, 1].map(|k| self.parts[k].feature(surfaces[k], radii[k]));
        let places = features.map(|feature: Feature<S>| feature.places);
        let count = 4 + places[0] + places[1];
        let r = residual(&features, &self.z.map(S::splat));
        let z = step(&self.z, &self.inverse, &r, count);
        let at = unpack(&z, places);
        let first = features[0].point(at.first, at.normal);
        let middle = first + at.normal * at.distance.scale(0.5);
        Nearest { normal: at.normal, distance: at.distance, middle }
    }
}

/// The places on a feature nearest to a point.
fn start(feature: &Feature<f64>, point: Vec3<f64>) -> [f64; 2] {
    let offset = point - feature.origin;
    let [s, t] = feature.tangents;
    match feature.places {
        1 => [offset.dot(s) / s.norm_squared().max(SMALLEST * SMALLEST), 0.0],
        2 => {
            let (ss, st, tt) = (s.norm_squared(), s.dot(t), t.norm_squared());
            let determinant = (ss * tt - st * st).max(f64::MIN_POSITIVE);
            let (a, b) = (offset.dot(s), offset.dot(t));
            [(a * tt - b * st) / determinant, (b * ss - a * st) / determinant]
        }
        _ => [0.0; 2],
    }
}
