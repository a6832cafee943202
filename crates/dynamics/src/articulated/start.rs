//! Constants and start of articulated bodies: from θ, and to the state.

use std::ops::Range;

use costate_num::{Dual, Quat, Scalar, Vec3};

use super::Articulated;
use crate::constants::Layout;
use crate::error::DynamicsError;
use crate::rigid::JointKind;

/// Where the orientation of a joint is among its coordinates and its velocities.
fn orientation(kind: JointKind) -> Option<usize> {
    match kind {
        JointKind::Free => Some(3),
        JointKind::Ball => Some(0),
        JointKind::Slide | JointKind::Hinge => None,
    }
}

fn quat<S: Scalar>(q: &[S]) -> Quat<S> {
    Quat { w: q[0], v: Vec3::new(q[1], q[2], q[3]) }
}

fn vec3(v: &[f64]) -> Vec3<f64> {
    Vec3::new(v[0], v[1], v[2])
}

fn put<S: Scalar>(q: Quat<S>, out: &mut [S]) {
    out[0] = q.w;
    out[1..4].copy_from_slice(&q.v.to_array());
}

impl Articulated {
    /// Calls `visit(index, quaternion range)` for all orientations among the coordinates.
    fn for_orientations(&self, mut visit: impl FnMut(Range<usize>)) {
        for joint in &self.tree().joints {
            if let Some(at) = orientation(joint.kind) {
                visit(joint.qpos + at..joint.qpos + at + 4);
            }
        }
    }

    pub(crate) fn derive(
        &self,
        theta: &[f64],
        layout: &Layout,
        c: &mut [f64],
    ) -> Result<(), DynamicsError> {
        c[layout.rigid.clone()].copy_from_slice(&self.derivation.derive(&self.all(theta))?);
        let [qpos, qvel, act] = layout.rigid_start.clone();
        match &self.start {
            None => c[qpos.clone()].copy_from_slice(&self.pose),
            Some(start) => {
                for (range, places) in [qpos.clone(), qvel, act].into_iter().zip(start) {
                    for (slot, &i) in c[range].iter_mut().zip(places) {
                        *slot = theta[i];
                    }
                }
            }
        }
        let q = &mut c[qpos];
        self.for_orientations(|range| {
            let unit = quat(&q[range.clone()]).normalize();
            put(unit, &mut q[range]);
        });
        Ok(())
    }

    pub(crate) fn derive_pushforward(
        &self,
        theta: &[f64],
        theta_dot: &[f64],
        layout: &Layout,
        c_dot: &mut [f64],
    ) {
        let rigid = &mut c_dot[layout.rigid.clone()];
        let mut all_dot = theta_dot.to_vec();
        all_dot.resize(theta.len() + self.extra.len(), 0.0);
        match self.derivation.pushforward(&self.all(theta), &all_dot) {
            Ok(dot) => rigid.copy_from_slice(&dot),
            // θ has been derived before, so this is no θ of this system: no number is right.
            Err(_) => rigid.fill(f64::NAN),
        }
        let Some(start) = &self.start else { return };
        for (range, places) in layout.rigid_start.clone().into_iter().zip(start) {
            for (slot, &i) in c_dot[range].iter_mut().zip(places) {
                *slot = theta_dot[i];
            }
        }
        let places = &start[0];
        let q_dot = &mut c_dot[layout.rigid_start[0].clone()];
        self.for_orientations(|range| {
            let mut raw = [Dual::constant(0.0); 4];
            for (slot, i) in raw.iter_mut().zip(range.clone()) {
                *slot = Dual::new(theta[places[i]], theta_dot[places[i]]);
            }
            let mut unit = [Dual::constant(0.0); 4];
            put(quat(&raw).normalize(), &mut unit);
            for (slot, x) in q_dot[range].iter_mut().zip(unit) {
                *slot = x.tangent[0];
            }
        });
    }

    pub(crate) fn derive_pullback(
        &self,
        theta: &[f64],
        c_bar: &[f64],
        layout: &Layout,
        theta_bar: &mut [f64],
    ) {
        let mut all_bar = theta_bar.to_vec();
        all_bar.resize(theta.len() + self.extra.len(), 0.0);
        let rigid = &c_bar[layout.rigid.clone()];
        match self.derivation.pullback(&self.all(theta), rigid, &mut all_bar) {
            Ok(()) => theta_bar.copy_from_slice(&all_bar[..theta.len()]),
            Err(_) => theta_bar.fill(f64::NAN),
        }
        let Some(start) = &self.start else { return };
        let mut bars = layout.rigid_start.clone().map(|range| c_bar[range].to_vec());
        self.for_orientations(|range| {
            // Adjoint of scaling to unit length.
            let raw: Vec<f64> = range.clone().map(|i| theta[start[0][i]]).collect();
            let length = raw.iter().map(|x| x * x).sum::<f64>().sqrt();
            let bar = &mut bars[0][range];
            if length > 0.0 {
                let along: f64 =
                    raw.iter().zip(&*bar).map(|(x, b)| x / length * b).sum::<f64>() / length;
                for (b, x) in bar.iter_mut().zip(&raw) {
                    *b = *b / length - along * x / length;
                }
            } else {
                bar.fill(0.0);
            }
        });
        for (bar, places) in bars.iter().zip(start) {
            for (b, &i) in bar.iter().zip(places) {
                theta_bar[i] += b;
            }
        }
    }

    /// Adds the tangents of the start: `dots` of coordinates, velocities and activations, at the
    /// coordinates `qpos`, to those of the state.
    pub(crate) fn start_pushforward(
        &self,
        qpos: &[f64],
        dots: [&[f64]; 3],
        [q, v, act]: [&mut [f64]; 3],
    ) {
        for joint in &self.tree().joints {
            let (from, to) = (joint.qpos, joint.dof);
            let plain = orientation(joint.kind).unwrap_or(1);
            for i in 0..plain {
                q[to + i] += dots[0][from + i];
            }
            if let Some(at) = orientation(joint.kind) {
                let range = from + at..from + at + 4;
                let turn = quat(&qpos[range.clone()]).conjugate().product(quat(&dots[0][range]));
                for (slot, x) in q[to + at..].iter_mut().zip(turn.v.to_array()) {
                    *slot += 2.0 * x;
                }
            }
        }
        v.iter_mut().zip(dots[1]).for_each(|(a, b)| *a += b);
        act.iter_mut().zip(dots[2]).for_each(|(a, b)| *a += b);
    }

    /// Adjoint of [`start_pushforward`](Self::start_pushforward).
    pub(crate) fn start_pullback(
        &self,
        qpos: &[f64],
        bars: [&[f64]; 3],
        start: &[Range<usize>; 3],
        c_bar: &mut [f64],
    ) {
        let q_bar = &mut c_bar[start[0].clone()];
        for joint in &self.tree().joints {
            let (from, to) = (joint.dof, joint.qpos);
            let plain = orientation(joint.kind).unwrap_or(1);
            for i in 0..plain {
                q_bar[to + i] += bars[0][from + i];
            }
            if let Some(at) = orientation(joint.kind) {
                let turn = Quat { w: 0.0, v: vec3(&bars[0][from + at..]) * 2.0 };
                let by = quat(&qpos[to + at..]).product(turn);
                let mut flat = [0.0; 4];
                put(by, &mut flat);
                q_bar[to + at..].iter_mut().zip(flat).for_each(|(a, b)| *a += b);
            }
        }
        for (range, bar) in start[1..].iter().zip(&bars[1..]) {
            c_bar[range.clone()].iter_mut().zip(*bar).for_each(|(a, b)| *a += b);
        }
    }
}
