//! Positions and orientations, in all notations of MJCF.

use super::attributes::Reader;
use super::compiler::Compiler;
use crate::error::{ErrorKind, Result};

/// A frame in another: position and unit quaternion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    pub pos: [f64; 3],
    pub quat: [f64; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    pub const IDENTITY: Self = Self { pos: [0.0; 3], quat: [1.0, 0.0, 0.0, 0.0] };

    /// The pose `inner`, given in this frame, in the frame that this one is given in.
    pub fn after(&self, inner: &Self) -> Self {
        if *self == Self::IDENTITY {
            return *inner;
        }
        Self { pos: self.point(inner.pos), quat: normalize(product(self.quat, inner.quat)) }
    }

    /// A point given in this frame.
    pub fn point(&self, p: [f64; 3]) -> [f64; 3] {
        let turned = rotate(self.quat, p);
        [0, 1, 2].map(|i| self.pos[i] + turned[i])
    }

    /// Reads `pos` and the orientation where they are given.
    pub fn read(&mut self, r: &Reader<'_>, compiler: &Compiler) -> Result<()> {
        r.set("pos", &mut self.pos)?;
        if let Some(quat) = orientation(r, compiler)? {
            self.quat = quat;
        }
        Ok(())
    }
}

/// The orientation of an element as a unit quaternion; none where it does not say one.
pub(crate) fn orientation(r: &Reader<'_>, compiler: &Compiler) -> Result<Option<[f64; 4]>> {
    let notations = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];
    let mut given = notations.into_iter().filter(|n| r.has(n));
    let Some(notation) = given.next() else { return Ok(None) };
    if let Some(second) = given.next() {
        return Err(r
            .wrong(second, ErrorKind::Conflict)
            .expected("one orientation")
            .found(format!("{notation} and {second}")));
    }
    let zero = |what: &str| {
        r.wrong(notation, ErrorKind::OutOfBounds).expected(what).found("a vector of length zero")
    };
    let unit = |v: [f64; 3]| {
        let length = norm(v);
        if length < 1e-14 { Err(zero("a direction")) } else { Ok(v.map(|x| x / length)) }
    };
    let missing = || r.error(ErrorKind::Missing);
    Ok(Some(match notation {
        "quat" => {
            let q: [f64; 4] = r.vector("quat")?.ok_or_else(missing)?;
            if q.iter().map(|x| x * x).sum::<f64>().sqrt() < 1e-14 {
                return Err(zero("a quaternion"));
            }
            normalize(q)
        }
        "axisangle" => {
            let [x, y, z, angle] = r.vector("axisangle")?.ok_or_else(missing)?;
            about(unit([x, y, z])?, compiler.angle(angle))
        }
        "xyaxes" => {
            let [a, b, c, d, e, f] = r.vector("xyaxes")?.ok_or_else(missing)?;
            let x = unit([a, b, c])?;
            let along = dot(x, [d, e, f]);
            let y = unit([d - along * x[0], e - along * x[1], f - along * x[2]])?;
            from_axes(x, y, cross(x, y))
        }
        "zaxis" => shortest_turn(unit(r.vector("zaxis")?.ok_or_else(missing)?)?),
        _ => euler(r.vector("euler")?.ok_or_else(missing)?, compiler),
    }))
}

/// Three rotations about axes in the compiler's sequence; angles in the file's unit.
pub(crate) fn euler(angles: [f64; 3], compiler: &Compiler) -> [f64; 4] {
    let mut quat = [1.0, 0.0, 0.0, 0.0];
    for (letter, angle) in compiler.eulerseq.iter().zip(angles) {
        let mut axis = [0.0; 3];
        axis[(letter.to_ascii_lowercase() - b'x') as usize] = 1.0;
        let turn = about(axis, compiler.angle(angle));
        // Small letters turn about the axes of the frame itself, capital ones about the parent's.
        quat = if letter.is_ascii_lowercase() { product(quat, turn) } else { product(turn, quat) };
    }
    normalize(quat)
}

/// The rotation by `angle`, rad, about a unit axis.
pub(crate) fn about(axis: [f64; 3], angle: f64) -> [f64; 4] {
    let (sine, cosine) = (angle / 2.0).sin_cos();
    [cosine, axis[0] * sine, axis[1] * sine, axis[2] * sine]
}

/// The shortest rotation of the z axis into a unit vector; half a turn is about x.
pub(crate) fn shortest_turn(to: [f64; 3]) -> [f64; 4] {
    let axis = [-to[1], to[0], 0.0];
    let sine = norm(axis);
    let axis = if sine < 1e-10 { [1.0, 0.0, 0.0] } else { axis.map(|x| x / sine) };
    about(axis, sine.atan2(to[2]))
}

/// The rotation whose matrix has these columns.
pub(crate) fn from_axes(x: [f64; 3], y: [f64; 3], z: [f64; 3]) -> [f64; 4] {
    // By the largest component (Shepperd 1978).
    let (xx, yy, zz) = (x[0], y[1], z[2]);
    let (zy, yz, xz, zx, yx, xy) = (y[2], z[1], z[0], x[2], x[1], y[0]);
    let candidates = [
        [1.0 + xx + yy + zz, zy - yz, xz - zx, yx - xy],
        [zy - yz, 1.0 + xx - yy - zz, xy + yx, zx + xz],
        [xz - zx, xy + yx, 1.0 - xx + yy - zz, yz + zy],
        [yx - xy, zx + xz, yz + zy, 1.0 - xx - yy + zz],
    ];
    let mut best = 0;
    for i in 1..4 {
        if candidates[i][i] > candidates[best][best] {
            best = i;
        }
    }
    normalize(candidates[best])
}

pub(crate) fn normalize(q: [f64; 4]) -> [f64; 4] {
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    // A unit quaternion keeps its bits, so that writing and reading it again changes nothing.
    if (length - 1.0).abs() < 1e-15 || length == 0.0 { q } else { q.map(|x| x / length) }
}

pub(crate) fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

pub(crate) fn rotate(q: [f64; 4], p: [f64; 3]) -> [f64; 3] {
    let v = [q[1], q[2], q[3]];
    let t = cross(v, p).map(|x| 2.0 * x);
    let u = cross(v, t);
    [0, 1, 2].map(|i| p[i] + q[0] * t[i] + u[i])
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}
