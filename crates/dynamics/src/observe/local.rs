//! A value of up to three components with its derivatives, and the moment it is taken at.

use costate_num::Vec3;

use super::hermite::Blend;
use crate::rollout::{Interval, IntervalAdjoints, IntervalTangents};

/// An instant inside an interval, where observations are evaluated.
pub(super) struct Moment<'a> {
    pub at: Interval<'a>,
    pub blend: Blend,
    /// Whether derivatives are wanted.
    pub derivatives: bool,
}

fn vec3(values: &[f64], vertex: u32) -> Vec3<f64> {
    let i = 3 * vertex as usize;
    Vec3::new(values[i], values[i + 1], values[i + 2])
}

impl Moment<'_> {
    fn mix_x(&self, w: &[f64; 4], vertex: u32) -> Vec3<f64> {
        let (start, end) = (self.at.start, self.at.end);
        vec3(&start.q, vertex) * w[0]
            + vec3(&start.v, vertex) * w[1]
            + vec3(&end.q, vertex) * w[2]
            + vec3(&end.v, vertex) * w[3]
    }

    fn mix_v(&self, w: &[f64; 2], vertex: u32) -> Vec3<f64> {
        vec3(&self.at.start.v, vertex) * w[0] + vec3(&self.at.end.v, vertex) * w[1]
    }

    fn mix_dof(&self, w: &[f64; 2], dof: u32) -> f64 {
        self.at.start.v[dof as usize] * w[0] + self.at.end.v[dof as usize] * w[1]
    }

    fn mix_coordinate(&self, w: &[f64; 4], dof: u32) -> f64 {
        let (v, q) = (dof as usize, self.at.system.coordinate_of(dof as usize));
        let (start, end) = (self.at.start, self.at.end);
        start.q[q] * w[0] + start.v[v] * w[1] + end.q[q] * w[2] + end.v[v] * w[3]
    }

    /// Position of a slide or hinge with this degree of freedom.
    pub fn joint_q(&self, dof: u32) -> f64 {
        self.mix_coordinate(&self.blend.x, dof)
    }

    /// Velocity of a degree of freedom.
    pub fn joint_v(&self, dof: u32) -> f64 {
        self.mix_dof(&self.blend.v, dof)
    }

    /// Position of a vertex.
    pub fn x(&self, vertex: u32) -> Vec3<f64> {
        self.mix_x(&self.blend.x, vertex)
    }

    /// Velocity of a vertex.
    pub fn v(&self, vertex: u32) -> Vec3<f64> {
        self.mix_v(&self.blend.v, vertex)
    }
}

/// A 3 × 3 block by rows: `m[a][b]` is the derivative of component a by coordinate b.
pub(super) type Block = [[f64; 3]; 3];

/// Slopes by one of the states at the ends of an interval.
#[derive(Clone, Debug, Default)]
pub(super) struct Slopes {
    /// By positions, in their tangent space.
    pub q: Vec<(u32, [f64; 3])>,
    /// By velocities.
    pub v: Vec<(u32, [f64; 3])>,
    /// By activations.
    pub act: Vec<(u32, [f64; 3])>,
}

impl Slopes {
    fn parts(&self) -> [&Vec<(u32, [f64; 3])>; 3] {
        [&self.q, &self.v, &self.act]
    }
}

/// Up to three components with their derivatives at a [`Moment`].
///
/// A vertex's derivative is a multiple of the identity (`x_weights`, `v_weights`) or a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    pub value: [f64; 3],
    pub x_weights: Vec<(u32, f64)>,
    pub v_weights: Vec<(u32, f64)>,
    pub x: Vec<(u32, Block)>,
    pub v: Vec<(u32, Block)>,
    /// By degrees of freedom of joints, counted among all: by their positions.
    pub joint_q: Vec<(u32, [f64; 3])>,
    /// By their velocities.
    pub joint_v: Vec<(u32, [f64; 3])>,
    /// By the states at the start and the end of the interval, apart from the blend.
    pub ends: [Slopes; 2],
    /// Rate in time of what `ends` is the derivative of.
    pub rate: [f64; 3],
    /// By constants.
    pub c: Vec<(u32, [f64; 3])>,
    /// By the inputs.
    pub u: Vec<(u32, [f64; 3])>,
    /// By the observer's parameters.
    pub p: Vec<(u32, [f64; 3])>,
}

fn apply(m: &Block, x: Vec3<f64>) -> Vec3<f64> {
    let row = |r: &[f64; 3]| r[0] * x.x + r[1] * x.y + r[2] * x.z;
    Vec3::new(row(&m[0]), row(&m[1]), row(&m[2]))
}

fn apply_transposed(m: &Block, g: Vec3<f64>) -> Vec3<f64> {
    let column = |b: usize| m[0][b] * g.x + m[1][b] * g.y + m[2][b] * g.z;
    Vec3::new(column(0), column(1), column(2))
}

impl Local {
    /// Back to zero, keeping the memory.
    pub fn clear(&mut self) {
        self.value = [0.0; 3];
        self.x_weights.clear();
        self.v_weights.clear();
        self.x.clear();
        self.v.clear();
        self.joint_q.clear();
        self.joint_v.clear();
        for end in &mut self.ends {
            [&mut end.q, &mut end.v, &mut end.act].into_iter().for_each(Vec::clear);
        }
        self.rate = [0.0; 3];
        self.c.clear();
        self.u.clear();
        self.p.clear();
    }

    fn sum(
        &self,
        x: impl Fn(u32) -> Vec3<f64>,
        v: impl Fn(u32) -> Vec3<f64>,
        joint: [&dyn Fn(u32) -> f64; 2],
        c: impl Fn(u32) -> f64,
        u: impl Fn(u32) -> f64,
        p: impl Fn(u32) -> f64,
    ) -> Vec3<f64> {
        let mut sum = Vec3::zero();
        for &(i, w) in &self.x_weights {
            sum += x(i) * w;
        }
        for &(i, w) in &self.v_weights {
            sum += v(i) * w;
        }
        for (i, m) in &self.x {
            sum += apply(m, x(*i));
        }
        for (i, m) in &self.v {
            sum += apply(m, v(*i));
        }
        for (slopes, of) in [&self.joint_q, &self.joint_v].into_iter().zip(joint) {
            for &(i, slope) in slopes {
                sum += Vec3::from_array(slope) * of(i);
            }
        }
        for &(i, slope) in &self.c {
            sum += Vec3::from_array(slope) * c(i);
        }
        for &(i, slope) in &self.u {
            sum += Vec3::from_array(slope) * u(i);
        }
        for &(i, slope) in &self.p {
            sum += Vec3::from_array(slope) * p(i);
        }
        sum
    }

    /// Rate in time at fixed constants, inputs and parameters.
    pub fn rate(&self, at: &Moment) -> Vec3<f64> {
        let blend = &at.blend;
        let x = |i| at.mix_x(&blend.x_rate, i);
        let v = |i| at.mix_v(&blend.v_rate, i);
        let joint_q = |i| at.mix_coordinate(&blend.x_rate, i);
        let joint_v = |i| at.mix_dof(&blend.v_rate, i);
        let blended = self.sum(x, v, [&joint_q, &joint_v], |_| 0.0, |_| 0.0, |_| 0.0);
        blended + Vec3::from_array(self.rate)
    }

    /// Tangent along column `k`.
    pub fn tangent(&self, at: &Moment, tangents: &IntervalTangents, k: usize) -> Vec3<f64> {
        let n = at.at.system.dof();
        let column = k * n..(k + 1) * n;
        let (q0, v0) = (&tangents.start.q[column.clone()], &tangents.start.v[column.clone()]);
        let (q1, v1) = (&tangents.end.q[column.clone()], &tangents.end.v[column]);
        let (bx, bv) = (&at.blend.x, &at.blend.v);
        let x = |i: u32| {
            vec3(q0, i) * bx[0] + vec3(v0, i) * bx[1] + vec3(q1, i) * bx[2] + vec3(v1, i) * bx[3]
        };
        let v = |i: u32| vec3(v0, i) * bv[0] + vec3(v1, i) * bv[1];
        let pick = |values: &[f64], length: usize, i: u32| {
            if values.is_empty() { 0.0 } else { values[k * length + i as usize] }
        };
        let c = |i| pick(tangents.c, at.at.c.values.len(), i);
        let u = |i| pick(tangents.u, at.at.u.now.len(), i);
        let p = |i| pick(tangents.p, at.at.p.len(), i);
        let joint_q = |i: u32| {
            let i = i as usize;
            q0[i] * bx[0] + v0[i] * bx[1] + q1[i] * bx[2] + v1[i] * bx[3]
        };
        let joint_v = |i: u32| v0[i as usize] * bv[0] + v1[i as usize] * bv[1];
        let mut sum = self.sum(x, v, [&joint_q, &joint_v], c, u, p);
        for (end, of) in self.ends.iter().zip([tangents.start, tangents.end]) {
            let lengths = [n, n, at.at.start.act.len()];
            for ((slopes, values), length) in
                end.parts().into_iter().zip([&of.q, &of.v, &of.act]).zip(lengths)
            {
                for &(i, slope) in slopes {
                    sum += Vec3::from_array(slope) * values[k * length + i as usize];
                }
            }
        }
        sum
    }

    /// Adds the adjoints of `g · value`.
    pub fn pull(&self, at: &Moment, g: Vec3<f64>, adjoints: &mut IntervalAdjoints) {
        let (bx, bv) = (&at.blend.x, &at.blend.v);
        for &(i, w) in &self.x_weights {
            pull_x(bx, adjoints, i, g * w);
        }
        for &(i, w) in &self.v_weights {
            pull_v(bv, adjoints, i, g * w);
        }
        for (i, m) in &self.x {
            pull_x(bx, adjoints, *i, apply_transposed(m, g));
        }
        for (i, m) in &self.v {
            pull_v(bv, adjoints, *i, apply_transposed(m, g));
        }
        for &(i, slope) in &self.joint_q {
            let (i, g) = (i as usize, Vec3::from_array(slope).dot(g));
            adjoints.start.q[i] += g * bx[0];
            adjoints.start.v[i] += g * bx[1];
            adjoints.end.q[i] += g * bx[2];
            adjoints.end.v[i] += g * bx[3];
        }
        for &(i, slope) in &self.joint_v {
            let (i, g) = (i as usize, Vec3::from_array(slope).dot(g));
            adjoints.start.v[i] += g * bv[0];
            adjoints.end.v[i] += g * bv[1];
        }
        for (end, of) in self.ends.iter().zip([&mut *adjoints.start, &mut *adjoints.end]) {
            let bars = [&mut of.q, &mut of.v, &mut of.act];
            for (slopes, bar) in end.parts().into_iter().zip(bars) {
                for &(i, slope) in slopes {
                    bar[i as usize] += Vec3::from_array(slope).dot(g);
                }
            }
        }
        for &(i, slope) in &self.c {
            adjoints.c[i as usize] += Vec3::from_array(slope).dot(g);
        }
        for &(i, slope) in &self.u {
            adjoints.u[i as usize] += Vec3::from_array(slope).dot(g);
        }
        for &(i, slope) in &self.p {
            adjoints.p[i as usize] += Vec3::from_array(slope).dot(g);
        }
    }

    /// Adds the derivatives of a function of `inner`, whose Jacobian by it is `m`.
    pub fn chain(&mut self, m: &Block, inner: &Local) {
        let times = |b: &Block| {
            let mut out = [[0.0; 3]; 3];
            for a in 0..3 {
                for k in 0..3 {
                    out[a][k] = m[a][0] * b[0][k] + m[a][1] * b[1][k] + m[a][2] * b[2][k];
                }
            }
            out
        };
        let scaled = |w: f64| m.map(|row| row.map(|x| x * w));
        self.x.extend(inner.x_weights.iter().map(|&(i, w)| (i, scaled(w))));
        self.v.extend(inner.v_weights.iter().map(|&(i, w)| (i, scaled(w))));
        self.x.extend(inner.x.iter().map(|(i, b)| (*i, times(b))));
        self.v.extend(inner.v.iter().map(|(i, b)| (*i, times(b))));
        let slope = |s: &[f64; 3]| apply(m, Vec3::from_array(*s)).to_array();
        self.joint_q.extend(inner.joint_q.iter().map(|(i, s)| (*i, slope(s))));
        self.joint_v.extend(inner.joint_v.iter().map(|(i, s)| (*i, slope(s))));
        for (own, inner) in self.ends.iter_mut().zip(&inner.ends) {
            own.q.extend(inner.q.iter().map(|(i, s)| (*i, slope(s))));
            own.v.extend(inner.v.iter().map(|(i, s)| (*i, slope(s))));
            own.act.extend(inner.act.iter().map(|(i, s)| (*i, slope(s))));
        }
        let rate = Vec3::from_array(self.rate) + apply(m, Vec3::from_array(inner.rate));
        self.rate = rate.to_array();
        self.c.extend(inner.c.iter().map(|(i, s)| (*i, slope(s))));
        self.u.extend(inner.u.iter().map(|(i, s)| (*i, slope(s))));
        self.p.extend(inner.p.iter().map(|(i, s)| (*i, slope(s))));
    }
}

fn add(to: &mut [f64], vertex: u32, value: Vec3<f64>, weight: f64) {
    let i = 3 * vertex as usize;
    to[i] += weight * value.x;
    to[i + 1] += weight * value.y;
    to[i + 2] += weight * value.z;
}

fn pull_x(b: &[f64; 4], adjoints: &mut IntervalAdjoints, vertex: u32, g: Vec3<f64>) {
    add(&mut adjoints.start.q, vertex, g, b[0]);
    add(&mut adjoints.start.v, vertex, g, b[1]);
    add(&mut adjoints.end.q, vertex, g, b[2]);
    add(&mut adjoints.end.v, vertex, g, b[3]);
}

fn pull_v(b: &[f64; 2], adjoints: &mut IntervalAdjoints, vertex: u32, g: Vec3<f64>) {
    add(&mut adjoints.start.v, vertex, g, b[0]);
    add(&mut adjoints.end.v, vertex, g, b[1]);
}

/// What an observation computes.
pub(super) trait Observable: Send + Sync {
    /// Writes value and, where wanted, derivatives into `out`, which comes cleared.
    fn evaluate(&self, at: &Moment, out: &mut Local);
}
