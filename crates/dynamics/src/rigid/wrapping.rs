//! Tendons around spheres and cylinders: where the shortest path from one point to another that stays on one
//! side of a round obstacle touches it.
//!
//! The problem is solved in a plane: of a sphere the one through its centre and both points, of a cylinder the
//! one across its axis, along which the path climbs evenly. Choices (which of two tangents, whether the path
//! touches at all) are those of MuJoCo 4.0, as measured.

use costate_num::{Mask, Mat3, Scalar, Vec3};

/// Smaller lengths are zero.
const TINY: f64 = 1e-15;

/// A sphere or a cylinder along its z axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Obstacle<S> {
    /// Its centre.
    pub center: Vec3<S>,
    /// Its axes.
    pub turn: Mat3<S>,
    /// Its radius.
    pub radius: S,
    /// Whether it is a cylinder.
    pub cylinder: bool,
    /// The point on whose side the path passes; one within the radius makes the path touch from inside.
    pub side: Option<Vec3<S>>,
}

/// The part of a path that lies on an obstacle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapped<S> {
    /// Where it begins and ends.
    pub points: [Vec3<S>; 2],
    /// Its length.
    pub length: S,
}

type Flat<S> = [S; 2];

/// Whether a comparison of scalars of one lane holds.
#[inline(always)]
fn holds<M: Mask>(mask: M) -> bool {
    mask.all()
}

fn dot<S: Scalar>(a: Flat<S>, b: Flat<S>) -> S {
    a[0] * b[0] + a[1] * b[1]
}

fn cross<S: Scalar>(a: Flat<S>, b: Flat<S>) -> S {
    a[0] * b[1] - a[1] * b[0]
}

fn minus<S: Scalar>(a: Flat<S>, b: Flat<S>) -> Flat<S> {
    [a[0] - b[0], a[1] - b[1]]
}

fn plus<S: Scalar>(a: Flat<S>, b: Flat<S>) -> Flat<S> {
    [a[0] + b[0], a[1] + b[1]]
}

fn times<S: Scalar>(a: Flat<S>, x: S) -> Flat<S> {
    [a[0] * x, a[1] * x]
}

/// Of unit length; along the first axis where it has none.
fn unit<S: Scalar>(a: Flat<S>) -> Flat<S> {
    let length = dot(a, a).sqrt();
    if holds(length.lt(S::splat(TINY))) { [S::one(), S::zero()] } else { times(a, length.recip()) }
}

/// The part of the shortest path between two points that lies on an obstacle; `None` where it does not touch.
pub(crate) fn wrap<S: Scalar>(ends: [Vec3<S>; 2], obstacle: Obstacle<S>) -> Option<Wrapped<S>> {
    let Obstacle { center, turn, radius, cylinder, side } = obstacle;
    let inward = |x: Vec3<S>| turn.apply_transposed(x - center);
    let local = ends.map(inward);
    if local.iter().any(|p| holds(p.norm().lt(S::splat(TINY)))) {
        return None;
    }
    let (one, zero) = (S::one(), S::zero());
    let axes = if cylinder {
        [Vec3::new(one, zero, zero), Vec3::new(zero, one, zero)]
    } else {
        plane_through(local)
    };
    let project = |p: Vec3<S>| [p.dot(axes[0]), p.dot(axes[1])];
    let flat = local.map(project);
    let side = side.map(inward);
    let (touched, mut length) = match side {
        Some(side) if holds(side.norm().lt(radius)) => (inside(flat, radius)?, zero),
        _ => around(flat, side.map(|s| times(unit(project(s)), radius)), radius)?,
    };
    let mut points = touched.map(|p| axes[0] * p[0] + axes[1] * p[1]);
    if cylinder {
        let legs = [0, 1].map(|i| {
            let leg = minus(flat[i], touched[i]);
            dot(leg, leg).sqrt()
        });
        let (start, climb) = (local[0].z, local[1].z - local[0].z);
        let whole = legs[0] + length + legs[1];
        points[0].z = start + climb * legs[0] / whole;
        points[1].z = start + climb * (legs[0] + length) / whole;
        let height = points[1].z - points[0].z;
        let flat_length = length;
        length = (flat_length * flat_length + height * height).sqrt();
    }
    Some(Wrapped { points: points.map(|p| center + turn.apply(p)), length })
}

/// Axes of the plane through the origin and two points, the first towards the first point.
fn plane_through<S: Scalar>(points: [Vec3<S>; 2]) -> [Vec3<S>; 2] {
    let first = points[0].normalize().0;
    let (mut normal, size) = points[0].cross(points[1]).normalize();
    if holds(size.lt(S::splat(TINY))) {
        // The points are in line with the centre: any plane does.
        let [x, y, z] = first.to_array().map(Scalar::abs);
        let (one, zero) = (S::one(), S::zero());
        let other = if holds(x.ge(y)) && holds(x.ge(z)) {
            Vec3::new(zero, one, one)
        } else if holds(y.ge(z)) {
            Vec3::new(one, zero, one)
        } else {
            Vec3::new(one, one, zero)
        };
        normal = first.cross(other).normalize().0;
    }
    [first, normal.cross(first).normalize().0]
}

/// Whether the segments a–b and c–d meet.
fn meet<S: Scalar>(a: Flat<S>, b: Flat<S>, c: Flat<S>, d: Flat<S>) -> bool {
    let (first, second, between) = (minus(b, a), minus(d, c), minus(a, c));
    let det = cross(first, second);
    if holds(det.abs().lt(S::splat(TINY))) {
        return false;
    }
    let (s, t) = (cross(second, between) / det, cross(first, between) / det);
    let within = |x: S| holds(x.ge(S::zero())) && holds(x.le(S::one()));
    within(s) && within(t)
}

/// Where the path around a circle touches it, and the length of its arc.
fn around<S: Scalar>(
    ends: [Flat<S>; 2],
    side: Option<Flat<S>>,
    radius: S,
) -> Option<([Flat<S>; 2], S)> {
    let (zero, one) = (S::zero(), S::one());
    let squares = ends.map(|p| dot(p, p));
    let square = radius * radius;
    let apart = minus(ends[1], ends[0]);
    let distance = dot(apart, apart);
    let tiny = S::splat(TINY);
    let within = squares.iter().any(|s| holds(s.lt(square)));
    if within || holds(radius.lt(tiny)) || holds(distance.lt(tiny)) {
        return None;
    }
    let nearest = (-(dot(apart, ends[0]) / distance)).clamp(zero, one);
    let near = plus(ends[0], times(apart, nearest));
    let clear = holds(dot(near, near).gt(square));
    // Clear of the circle, the path goes the long way round only for a side opposite to both ends.
    let turn = cross(ends[0], ends[1]);
    let opposite = |side: Flat<S>| {
        holds((cross(ends[0], side) * turn).lt(zero))
            && holds((cross(side, ends[1]) * turn).lt(zero))
    };
    if clear && !side.is_some_and(opposite) {
        return None;
    }
    let reach = squares.map(|s| (s - square).sqrt());
    let tangent = |i: usize, sign: f64| {
        let p = ends[i];
        let across = (radius * reach[i]).scale(sign);
        let scale = squares[i].recip();
        [(p[0] * square + across * p[1]) * scale, (p[1] * square - across * p[0]) * scale]
    };
    let solutions = [1.0, -1.0].map(|sign| [tangent(0, sign), tangent(1, -sign)]);
    let goodness = |[p, q]: [Flat<S>; 2]| {
        if meet(ends[0], p, ends[1], q) {
            return S::splat(-1e4);
        }
        match side {
            Some(side) => dot(unit(plus(p, q)), side),
            None => {
                let chord = minus(p, q);
                -dot(chord, chord)
            }
        }
    };
    let first = holds(goodness(solutions[0]).gt(goodness(solutions[1])));
    let [p, q] = solutions[usize::from(!first)];
    if meet(ends[0], p, ends[1], q) {
        return None;
    }
    // The first solution runs clockwise, the second the other way.
    let turned = if first { -cross(p, q) } else { cross(p, q) };
    let angle = turned.atan2(dot(p, q));
    let angle = if holds(angle.lt(zero)) { angle + S::splat(std::f64::consts::TAU) } else { angle };
    Some(([p, q], radius * angle))
}

/// Where a path that passes through a ring touches it from inside: a point at which the angles of both legs
/// are equal, where there is one.
fn inside<S: Scalar>(ends: [Flat<S>; 2], radius: S) -> Option<[Flat<S>; 2]> {
    let (zero, one, tiny) = (S::zero(), S::one(), S::splat(TINY));
    let lengths = ends.map(|p| dot(p, p).sqrt());
    let outside = lengths.iter().all(|l| holds(l.gt(radius)) && holds(l.ge(tiny)));
    if !outside || holds(radius.lt(tiny)) {
        return None;
    }
    let apart = minus(ends[1], ends[0]);
    let distance = dot(apart, apart);
    if holds(distance.gt(tiny)) {
        let nearest = -(dot(ends[0], apart) / distance);
        let near = plus(ends[0], times(apart, nearest));
        let between = holds(nearest.gt(zero)) && holds(nearest.lt(one));
        if between && holds(dot(near, near).sqrt().le(radius)) {
            return None;
        }
    }
    // Where the equation has no root of use, the middle of both directions.
    let middle = times(unit(times(plus(ends[0], ends[1]), S::splat(0.5))), radius);
    let ratio = lengths.map(|l| radius / l);
    let cosine = (lengths[0] * lengths[0] + lengths[1] * lengths[1] - distance)
        / (lengths[0] * lengths[1]).scale(2.0);
    if holds(cosine.lt(S::splat(TINY - 1.0))) {
        return None;
    }
    if holds(cosine.gt(S::splat(1.0 - TINY))) {
        return Some([middle; 2]);
    }
    let Some(z) = touching(ratio, cosine.acos()) else { return Some([middle; 2]) };
    let leftward = holds(cross(ends[0], ends[1]).gt(zero));
    let (from, share) = if leftward { (ends[0], ratio[0]) } else { (ends[1], ratio[1]) };
    let (sine, cosine) = (z.asin() - (share * z).asin()).sin_cos();
    let [x, y] = times(unit(from), radius);
    Some([[cosine * x - sine * y, sine * x + cosine * y]; 2])
}

/// The root of asin(a z) + asin(b z) − 2 asin(z) + angle below one, by Newton's method from there.
fn touching<S: Scalar>([a, b]: [S; 2], angle: S) -> Option<S> {
    const TOLERANCE: f64 = 1e-6;
    const ITERATIONS: usize = 20;
    /// Steps beyond the tolerance, which leave rounding alone and carry derivatives along.
    const POLISH: usize = 3;
    let one = S::one();
    let value = |z: S| (a * z).asin() + (b * z).asin() - z.asin().scale(2.0) + angle;
    let slope = |z: S| {
        let part = |k: S| k / (one - k * k * z * z).sqrt().max(S::splat(TINY));
        part(a) + part(b) - part(one).scale(2.0)
    };
    let tolerance = S::splat(TOLERANCE);
    let mut z = S::splat(1.0 - 1e-7);
    let mut f = value(z);
    if holds(f.gt(S::zero())) {
        return None;
    }
    let mut left = ITERATIONS;
    while holds(f.abs().gt(tolerance)) {
        let by = slope(z);
        let next = z - f / by;
        if left == 0 || holds(by.gt(S::splat(-TINY))) || holds(next.gt(z)) {
            return None;
        }
        (z, f) = (next, value(next));
        if holds(f.gt(tolerance)) {
            return None;
        }
        left -= 1;
    }
    for _ in 0..POLISH {
        z = z - value(z) / slope(z);
    }
    Some(z)
}
