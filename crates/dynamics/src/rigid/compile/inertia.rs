//! Rules that change masses and inertias after they are known: bounds, balance, total mass.

use costate_model::rigid::InertiaRules;
use costate_num::{Mat3, Quat, Vec3};

/// Where mass, centre and inertia of a body are: ten places.
pub(super) type Ten = [usize; 10];

/// Least mass and principal inertias of one body, and balance of the latter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    pub rules: InertiaRules,
    pub from: Ten,
    pub to: Ten,
}

/// What the rules do to a tensor at the present values.
enum Effect {
    Nothing,
    /// Principal inertias are raised to the bound.
    Raised(Spectrum),
    /// All principal inertias are set to the mean of those of the tensor, or of the raised one.
    Averaged(Option<Spectrum>),
}

/// Eigenvalues, eigenvectors (columns) and what the values become.
struct Spectrum {
    values: [f64; 3],
    vectors: Mat3<f64>,
    raised: [f64; 3],
}

impl Spectrum {
    /// The tensor with the raised values.
    fn tensor(&self) -> Mat3<f64> {
        let d = Mat3::from_diagonal(Vec3::from_array(self.raised));
        self.vectors.matmul(d).matmul(self.vectors.transpose())
    }

    /// The derivative of the raised tensor along a symmetric matrix: divided differences of the bound
    /// in the eigenbasis (Daleckii and Krein). It is its own adjoint.
    fn derivative(&self, along: Mat3<f64>, bound: f64) -> Mat3<f64> {
        let inner = self.vectors.transpose().matmul(along).matmul(self.vectors).to_rows();
        let mut scaled = [0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                let gap = self.values[i] - self.values[j];
                let factor = if gap.abs() > 1e-12 * self.values[i].abs().max(bound) {
                    (self.raised[i] - self.raised[j]) / gap
                } else if self.values[i] > bound {
                    1.0
                } else {
                    0.0
                };
                scaled[3 * i + j] = factor * inner[3 * i + j];
            }
        }
        let back = Mat3::from_rows(scaled);
        self.vectors.matmul(back).matmul(self.vectors.transpose())
    }
}

fn matrix(z: &[f64], at: &[usize]) -> Mat3<f64> {
    let [xx, xy, yy, xz, yz, zz] = [0, 1, 2, 3, 4, 5].map(|i| z[at[i]]);
    Mat3::from_rows([xx, xy, xz, xy, yy, yz, xz, yz, zz])
}

/// Six numbers of a symmetric matrix.
fn six(m: Mat3<f64>) -> [f64; 6] {
    let [xx, xy, xz, _, yy, yz, _, _, zz] = m.to_rows();
    [xx, xy, yy, xz, yz, zz]
}

/// The adjoint of a matrix as that of its six numbers, and back: numbers off the diagonal stand for two
/// entries.
fn halved(z: &[f64], at: &[usize]) -> Mat3<f64> {
    let [xx, xy, yy, xz, yz, zz] = [0, 1, 2, 3, 4, 5].map(|i| z[at[i]]);
    let (xy, xz, yz) = (xy / 2.0, xz / 2.0, yz / 2.0);
    Mat3::from_rows([xx, xy, xz, xy, yy, yz, xz, yz, zz])
}

impl Bound {
    fn effect(&self, z: &[f64]) -> Effect {
        let tensor = matrix(z, &self.from[4..]);
        let (values, vectors) = eigen(tensor);
        let bound = self.rules.boundinertia;
        let spectrum = Spectrum { values, vectors, raised: values.map(|v| v.max(bound)) };
        let raises = bound > 0.0 && values.iter().any(|v| *v < bound);
        let mut sorted = spectrum.raised;
        sorted.sort_by(f64::total_cmp);
        // The same slack as MuJoCo's, which compares without one, but for rounding of eigenvalues.
        let unbalanced = sorted[0] + sorted[1] < sorted[2] * (1.0 - 1e-14);
        match (self.rules.balanceinertia && unbalanced, raises) {
            (true, raises) => Effect::Averaged(raises.then_some(spectrum)),
            (false, true) => Effect::Raised(spectrum),
            (false, false) => Effect::Nothing,
        }
    }

    pub fn evaluate(&self, z: &mut [f64]) {
        let mass = z[self.from[0]];
        z[self.to[0]] = mass.max(self.rules.boundmass);
        for i in 1..4 {
            z[self.to[i]] = z[self.from[i]];
        }
        let tensor = match self.effect(z) {
            Effect::Nothing => six(matrix(z, &self.from[4..])),
            Effect::Raised(spectrum) => six(spectrum.tensor()),
            Effect::Averaged(spectrum) => {
                let trace = match spectrum {
                    Some(spectrum) => spectrum.raised.iter().sum(),
                    None => matrix(z, &self.from[4..]).trace(),
                };
                let mean = trace / 3.0;
                [mean, 0.0, mean, 0.0, 0.0, mean]
            }
        };
        for (&to, value) in self.to[4..].iter().zip(tensor) {
            z[to] = value;
        }
    }

    pub fn push(&self, z: &[f64], z_dot: &mut [f64]) {
        let free = z[self.from[0]] >= self.rules.boundmass;
        z_dot[self.to[0]] = if free { z_dot[self.from[0]] } else { 0.0 };
        for i in 1..4 {
            z_dot[self.to[i]] = z_dot[self.from[i]];
        }
        let along = matrix(z_dot, &self.from[4..]);
        let tensor = match self.effect(z) {
            Effect::Nothing => six(along),
            Effect::Raised(s) => six(s.derivative(along, self.rules.boundinertia)),
            Effect::Averaged(spectrum) => {
                let raised = match spectrum {
                    Some(s) => s.derivative(along, self.rules.boundinertia),
                    None => along,
                };
                let mean = raised.trace() / 3.0;
                [mean, 0.0, mean, 0.0, 0.0, mean]
            }
        };
        for (&to, value) in self.to[4..].iter().zip(tensor) {
            z_dot[to] = value;
        }
    }

    pub fn pull(&self, z: &[f64], z_bar: &mut [f64]) {
        let mass = std::mem::take(&mut z_bar[self.to[0]]);
        if z[self.from[0]] >= self.rules.boundmass {
            z_bar[self.from[0]] += mass;
        }
        for i in 1..4 {
            let bar = std::mem::take(&mut z_bar[self.to[i]]);
            z_bar[self.from[i]] += bar;
        }
        let bar = halved(z_bar, &self.to[4..]);
        for &to in &self.to[4..] {
            z_bar[to] = 0.0;
        }
        let pulled = match self.effect(z) {
            Effect::Nothing => bar,
            Effect::Raised(s) => s.derivative(bar, self.rules.boundinertia),
            Effect::Averaged(spectrum) => {
                let isotropic = Mat3::identity();
                let by_mean = isotropic * (bar.trace() / 3.0);
                match spectrum {
                    Some(s) => s.derivative(by_mean, self.rules.boundinertia),
                    None => by_mean,
                }
            }
        };
        let [xx, xy, yy, xz, yz, zz] = six(pulled);
        let doubled = [xx, 2.0 * xy, yy, 2.0 * xz, 2.0 * yz, zz];
        for (&from, value) in self.from[4..].iter().zip(doubled) {
            z_bar[from] += value;
        }
    }
}

/// Scales all masses and inertias to a total mass.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TotalMass {
    pub total: f64,
    /// Bodies but the world.
    pub bodies: Vec<(Ten, Ten)>,
}

impl TotalMass {
    fn sum(&self, z: &[f64]) -> f64 {
        self.bodies.iter().map(|(from, _)| z[from[0]]).sum()
    }

    pub fn evaluate(&self, z: &mut [f64]) {
        let sum = self.sum(z);
        let factor = if sum > 0.0 { self.total / sum } else { 0.0 };
        for (from, to) in &self.bodies {
            for i in 0..10 {
                let scale = if (1..4).contains(&i) { 1.0 } else { factor };
                z[to[i]] = z[from[i]] * scale;
            }
        }
    }

    pub fn push(&self, z: &[f64], z_dot: &mut [f64]) {
        let sum = self.sum(z);
        if sum <= 0.0 {
            return;
        }
        let factor = self.total / sum;
        let factor_dot = -factor / sum * self.sum(z_dot);
        for (from, to) in &self.bodies {
            for i in 0..10 {
                z_dot[to[i]] = if (1..4).contains(&i) {
                    z_dot[from[i]]
                } else {
                    z_dot[from[i]] * factor + z[from[i]] * factor_dot
                };
            }
        }
    }

    pub fn pull(&self, z: &[f64], z_bar: &mut [f64]) {
        let sum = self.sum(z);
        if sum <= 0.0 {
            return;
        }
        let factor = self.total / sum;
        let mut factor_bar = 0.0;
        for (from, to) in &self.bodies {
            for i in 0..10 {
                let bar = std::mem::take(&mut z_bar[to[i]]);
                if (1..4).contains(&i) {
                    z_bar[from[i]] += bar;
                } else {
                    z_bar[from[i]] += bar * factor;
                    factor_bar += bar * z[from[i]];
                }
            }
        }
        for (from, _) in &self.bodies {
            z_bar[from[0]] -= factor_bar * factor / sum;
        }
    }
}

/// The orientation of a tensor's principal axes, largest inertia first. Nothing but sensors of inertial
/// frames depends on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PrincipalAxes {
    /// Places of the tensor.
    pub from: [usize; 6],
    /// Places of the quaternion.
    pub to: [usize; 4],
}

impl PrincipalAxes {
    fn axes(&self, z: &[f64]) -> ([f64; 3], Quat<f64>) {
        principal_axes(matrix(z, &self.from))
    }

    /// The turn, in principal axes, that a change of the tensor makes; none about the axis between two
    /// equal principal inertias. A symmetric matrix D in principal axes turns by D_ij / (λ_j − λ_i).
    fn gaps(values: [f64; 3]) -> [f64; 3] {
        let size = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let inverse = |i: usize, j: usize| {
            let gap = values[j] - values[i];
            if gap.abs() > 1e-9 * size { gap.recip() } else { 0.0 }
        };
        // About x, y, z: rows 2 and 1, 0 and 2, 1 and 0.
        [inverse(2, 1), inverse(0, 2), inverse(1, 0)]
    }

    pub fn evaluate(&self, z: &mut [f64]) {
        let (_, q) = self.axes(z);
        for (&to, value) in self.to.iter().zip([q.w, q.v.x, q.v.y, q.v.z]) {
            z[to] = value;
        }
    }

    pub fn push(&self, z: &[f64], z_dot: &mut [f64]) {
        let (values, q) = self.axes(z);
        let (r, gaps) = (q.to_matrix(), Self::gaps(values));
        let d = r.transpose().matmul(matrix(z_dot, &self.from)).matmul(r).to_rows();
        let turn = Vec3::new(d[7] * gaps[0], d[2] * gaps[1], d[3] * gaps[2]);
        let dot = q.product(Quat { w: 0.0, v: turn * 0.5 });
        for (&to, value) in self.to.iter().zip([dot.w, dot.v.x, dot.v.y, dot.v.z]) {
            z_dot[to] = value;
        }
    }

    pub fn pull(&self, z: &[f64], z_bar: &mut [f64]) {
        let [w, x, y, zz] = self.to.map(|to| std::mem::take(&mut z_bar[to]));
        let (values, q) = self.axes(z);
        let (r, gaps) = (q.to_matrix(), Self::gaps(values));
        // The adjoint of a turn in the axes themselves: half the vector part of q* q̄.
        let turn = q.conjugate().product(Quat::new(w, x, y, zz)).v * 0.5;
        let (a, b, c) = (turn.x * gaps[0], turn.y * gaps[1], turn.z * gaps[2]);
        let d = Mat3::from_rows([0.0, c, b, c, 0.0, a, b, a, 0.0]);
        let [xx, xy, yy, xz, yz, zz] = six(r.matmul(d).matmul(r.transpose()));
        // Each number off the diagonal stands for two entries, each of which gives half.
        let bar = [xx / 2.0, xy, yy / 2.0, xz, yz, zz / 2.0];
        for (&from, value) in self.from.iter().zip(bar) {
            z_bar[from] += value;
        }
    }
}

/// Eigenvalues, largest first, and the rotation to their axes, by Jacobi rotations in MuJoCo's order, so
/// that of the equivalent sets of axes it is the same one.
fn principal_axes(m: Mat3<f64>) -> ([f64; 3], Quat<f64>) {
    let mut q = Quat::new(1.0, 0.0, 0.0, 0.0);
    let mut values = [0.0; 3];
    for _ in 0..30 {
        let r = q.to_matrix();
        let d = r.transpose().matmul(m).matmul(r).to_rows();
        values = [d[0], d[4], d[8]];
        // Rows, columns and the axis about which the rotation is.
        let (mut i, mut j, mut axis) = (0, 1, 2);
        if d[2].abs() > d[1].abs().max(d[5].abs()) {
            (i, j, axis) = (0, 2, 1);
        } else if d[5].abs() > d[1].abs() {
            (i, j, axis) = (1, 2, 0);
        }
        let off = d[3 * i + j];
        if off.abs() < 1e-18 * values.iter().fold(0.0f64, |m, v| m.max(v.abs())) || off == 0.0 {
            break;
        }
        let tau = (d[4 * j] - d[4 * i]) / (2.0 * off);
        let t = if tau >= 0.0 {
            1.0 / (tau + (1.0 + tau * tau).sqrt())
        } else {
            -1.0 / (-tau + (1.0 + tau * tau).sqrt())
        };
        let c = 1.0 / (1.0 + t * t).sqrt();
        // sin of half the angle whose tangent is |t|, without cancellation.
        let half = t.abs() * c / (2.0 * (1.0 + c)).sqrt();
        let mut part = if tau >= 0.0 { -half } else { half };
        if axis == 1 {
            part = -part;
        }
        let mut v = [0.0; 3];
        v[axis] = part;
        let turn = Quat::new((1.0 - part * part).sqrt(), v[0], v[1], v[2]);
        q = q.product(turn).normalize();
    }
    for step in 0..3 {
        let j = step % 2;
        if values[j] + 1e-12 < values[j + 1] {
            values.swap(j, j + 1);
            let mut v = [0.0; 3];
            v[(j + 2) % 3] = 0.5f64.sqrt();
            q = q.product(Quat::new(0.5f64.sqrt(), v[0], v[1], v[2])).normalize();
        }
    }
    (values, q)
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by Jacobi rotations.
fn eigen(m: Mat3<f64>) -> ([f64; 3], Mat3<f64>) {
    let rows = m.to_rows();
    let mut a = [[0.0; 3]; 3];
    for i in 0..9 {
        a[i / 3][i % 3] = rows[i];
    }
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let size = a[0][0].abs() + a[1][1].abs() + a[2][2].abs();
    for sweep in 0..60 {
        let (p, q) = [(0, 1), (0, 2), (1, 2)][sweep % 3];
        if a[p][q].abs() <= 1e-17 * size {
            continue;
        }
        let tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
        let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
        let c = 1.0 / (1.0 + t * t).sqrt();
        let s = t * c;
        for k in 0..3 {
            (a[k][p], a[k][q]) = (c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]);
        }
        for k in 0..3 {
            (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
        }
        for row in &mut v {
            (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
        }
    }
    let vectors = Mat3::from_rows([
        v[0][0], v[0][1], v[0][2], v[1][0], v[1][1], v[1][2], v[2][0], v[2][1], v[2][2],
    ]);
    ([a[0][0], a[1][1], a[2][2]], vectors)
}
