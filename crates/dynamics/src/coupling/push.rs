//! Tangents of the coupling: the kinematics on dual numbers, and the pairs that touch.

use costate_model::State;
use costate_num::Vec3;
use costate_num::spatial::{Force, Motion};

use super::pair::Meeting;
use super::{Coupling, CouplingScratch, Here};
use crate::constants::Constants;
use crate::contact::constants::{FIRST_RADIUS, LOAD, PARAMETERS, parameters};
use crate::contact::shapes::Pose;
use crate::rigid::inverse::{gather, twists};
use crate::rigid::{D, Kinematics, LANES, Tree, lift_tangent};
use crate::step::StateTangents;
use crate::system::{System, Workspace};

/// Memory on dual numbers.
pub(super) struct Lifted {
    kinematics: Kinematics<D>,
    twists: Vec<Motion<D>>,
    wrenches: Vec<Force<D>>,
    c: Vec<D>,
    qpos: Vec<D>,
    qvel: Vec<D>,
    applied: Vec<D>,
    by_coordinate: Vec<f64>,
}

impl Lifted {
    fn new(tree: &Tree, constants: usize) -> Self {
        let zeros = |n: usize| vec![D::constant(0.0); n];
        let n = tree.bodies.len();
        Self {
            kinematics: Kinematics::new(tree),
            twists: vec![Motion::zero(); n],
            wrenches: vec![Force::zero(); n],
            c: zeros(constants),
            qpos: zeros(tree.nq),
            qvel: zeros(tree.nv),
            applied: zeros(tree.nv),
            by_coordinate: vec![0.0; tree.nq],
        }
    }
}

/// Tangents in columns, by the lengths and places of their parts.
#[derive(Clone, Copy)]
struct Columns<'a> {
    q: &'a [f64],
    v: &'a [f64],
    /// Length of a column of the state.
    n: usize,
    /// Empty for zero.
    c: &'a [f64],
    /// Length of a column of the constants, and where those of the bodies and of the coupling begin.
    len: usize,
    rigid: usize,
    own: usize,
}

impl Columns<'_> {
    fn c_dot(&self, column: usize, at: usize) -> f64 {
        if self.c.is_empty() { 0.0 } else { self.c[column * self.len + at] }
    }
}

/// A number with its tangents in the lanes of a batch that starts at column `first`.
fn lift(value: f64, lanes: usize, first: usize, dot: impl Fn(usize) -> f64) -> D {
    let mut out = D::constant(value);
    for lane in 0..lanes {
        out.tangent[lane] = dot(first + lane);
    }
    out
}

impl Lifted {
    /// Kinematics and twists for a batch of columns.
    fn update(&mut self, at: Here, columns: Columns, first: usize, lanes: usize) {
        let (soft, n) = (at.soft, columns.n);
        for (i, (slot, &x)) in self.c.iter_mut().zip(at.rigid).enumerate() {
            *slot = lift(x, lanes, first, |k| columns.c_dot(k, columns.rigid + i));
        }
        for (slot, &x) in self.qpos.iter_mut().zip(at.qpos()) {
            *slot = D::constant(x);
        }
        for lane in 0..lanes {
            let own = (first + lane) * n + soft..(first + lane + 1) * n;
            lift_tangent(at.tree, at.qpos(), &columns.q[own], &mut self.by_coordinate);
            for (slot, &x) in self.qpos.iter_mut().zip(&self.by_coordinate) {
                slot.tangent[lane] = x;
            }
        }
        for (i, (slot, &x)) in self.qvel.iter_mut().zip(at.qvel()).enumerate() {
            *slot = lift(x, lanes, first, |k| columns.v[k * n + soft + i]);
        }
        self.kinematics.update(at.tree, at.layout, &self.c, &self.qpos);
        twists(at.tree, &self.kinematics.subspace, &self.qvel, &mut self.twists);
        self.wrenches.fill(Force::zero());
        self.applied.fill(D::constant(0.0));
    }
}

impl Coupling {
    /// Tangents of the forces on both sides at the state where the vertices that touch were found.
    fn push(&self, at: Here, columns: Columns, count: usize, scratch: &mut CouplingScratch) {
        let CouplingScratch { touching, lifted, force_dot, applied_dot, .. } = scratch;
        force_dot.clear();
        applied_dot.clear();
        if touching.is_empty() {
            return;
        }
        let (soft, nv, n) = (at.soft, at.tree.nv, columns.n);
        force_dot.resize(count * soft, 0.0);
        applied_dot.resize(count * nv, 0.0);
        let lifted = lifted.get_or_insert_with(|| Box::new(Lifted::new(at.tree, at.rigid.len())));
        for first in (0..count).step_by(LANES) {
            let lanes = LANES.min(count - first);
            lifted.update(at, columns, first, lanes);
            for t in &*touching {
                let s = &self.surfaces[t.surface];
                let body = at.tree.geoms[s.geom].body;
                let own = |i: usize| {
                    let place = s.constants.start + i;
                    lift(at.own[place], lanes, first, |k| columns.c_dot(k, columns.own + place))
                };
                let mut settings = [D::constant(0.0); PARAMETERS];
                for (i, slot) in settings.iter_mut().enumerate().take(LOAD) {
                    *slot = own(i);
                }
                let vector = |values: &[f64], dots: &[f64]| {
                    let coordinate = |a: usize| {
                        let j = 3 * t.vertex + a;
                        lift(values[j], lanes, first, |k| dots[k * n + j])
                    };
                    Vec3::new(coordinate(0), coordinate(1), coordinate(2))
                };
                let k = &lifted.kinematics;
                let pose = k.geom(at.tree, at.layout, &lifted.c, s.geom);
                let size = at.layout.geom_size.at(s.geom);
                let meeting = Meeting {
                    x: vector(&at.state.q, columns.q),
                    v: vector(&at.state.v, columns.v),
                    radius: own(FIRST_RADIUS + t.vertex),
                    pose: Pose {
                        pos: pose.position,
                        quat: pose.orientation,
                        size: [lifted.c[size], lifted.c[size + 1], lifted.c[size + 2]],
                    },
                    twist: lifted.twists[body],
                    origin: k.origin[body],
                    parameters: parameters(&settings),
                };
                let push = s.pair.force_dot(&meeting);
                for (a, x) in push.to_array().into_iter().enumerate() {
                    for lane in 0..lanes {
                        force_dot[(first + lane) * soft + 3 * t.vertex + a] += x.tangent[lane];
                    }
                }
                lifted.wrenches[body] -= Force::at_point(push, meeting.arm());
            }
            let Lifted { kinematics, wrenches, applied, .. } = &mut **lifted;
            gather(at.tree, &kinematics.subspace, wrenches, applied);
            for lane in 0..lanes {
                for (i, x) in applied.iter().enumerate() {
                    applied_dot[(first + lane) * nv + i] = x.tangent[lane];
                }
            }
        }
    }
}

impl System {
    /// Tangents of what [`couple`](Self::couple) has found, into `ws.coupling`; `c_dot` may be empty for
    /// zero.
    pub(crate) fn couple_pushforward(
        &self,
        c: &Constants,
        state: &State,
        tangents: &StateTangents,
        c_dot: &[f64],
        ws: &mut Workspace,
    ) {
        let columns = Columns {
            q: &tangents.q,
            v: &tangents.v,
            n: self.dof(),
            c: c_dot,
            len: self.layout.len,
            rigid: self.layout.rigid.start,
            own: self.layout.coupling.start,
        };
        if let (Some(coupling), Some(scratch)) = (&self.coupling, &mut ws.coupling)
            && let Some(at) = self.coupled_at(c, state)
        {
            coupling.push(at, columns, tangents.columns, scratch);
        }
    }
}
