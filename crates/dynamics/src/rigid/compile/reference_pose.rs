//! Constants that follow from others at the reference pose: inverse inertias along constraints and
//! actuators, lengths of tendons, geometry of equality constraints.
//!
//! An inverse inertia is y = J M⁻¹ Jᵀ for a row J; with x = M⁻¹ Jᵀ, dy = 2 dJ x − xᵀ dM x: the derivative
//! of a rate and of twice a kinetic energy at fixed joint rates x, which one transport of adjoints
//! from the bodies to the joints gives. Nothing of the size of M is ever formed.

use costate_num::spatial::{Force, Motion};
use costate_num::{Quat, Scalar, Vec3};

use super::super::constants::Layout;
use super::super::forward::Dynamics;
use super::super::inverse::twists;
use super::super::kinematics::{quat_at, vec3};
use super::super::tendon::{pieces, share};
use super::super::transport::{BodyAdjoint, Motions, Transport, TransportAdjoints};
use super::super::tree::{JointKind, TendonPath, Transmission, Tree};

/// Which values are wanted and where they go in a flat array of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    /// Tendons whose spring rests at the length that they have where springs rest.
    pub resting: Vec<usize>,
    /// Connect constraints between bodies: constraint, bodies.
    pub connects: Vec<(usize, [usize; 2])>,
    /// Weld constraints between bodies whose relative pose is that of the reference pose.
    pub welds: Vec<(usize, [usize; 2])>,
}

/// The results.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Results<S> {
    /// Per body: translation, rotation.
    pub body: Vec<[S; 2]>,
    /// Per degree of freedom.
    pub dof: Vec<S>,
    /// Per tendon.
    pub tendon: Vec<S>,
    /// Per tendon.
    pub length: Vec<S>,
    /// Per actuator: J M⁻¹ Jᵀ.
    pub actuator: Vec<S>,
    /// Per actuator: |M⁻¹ Jᵀ|.
    pub acceleration: Vec<S>,
    /// Per resting tendon.
    pub resting: Vec<S>,
    /// Per connect: the anchor in the second body.
    pub connects: Vec<[S; 3]>,
    /// Per weld: the anchor in the first body and the relative orientation.
    pub welds: Vec<[S; 7]>,
}

impl<S: Scalar> Results<S> {
    /// Zeros, for a structure.
    pub fn new(tree: &Tree, wanted: &Wanted) -> Self {
        let zeros = |n: usize| vec![S::zero(); n];
        Self {
            body: vec![[S::zero(); 2]; tree.bodies.len()],
            dof: zeros(tree.nv),
            tendon: zeros(tree.tendons.len()),
            length: zeros(tree.tendons.len()),
            actuator: zeros(tree.actuators.len()),
            acceleration: zeros(tree.actuators.len()),
            resting: zeros(wanted.resting.len()),
            connects: vec![[S::zero(); 3]; wanted.connects.len()],
            welds: vec![[S::zero(); 7]; wanted.welds.len()],
        }
    }

    /// All numbers, in a fixed order.
    pub fn flatten(&self, into: &mut Vec<S>) {
        into.clear();
        into.extend(self.body.iter().flatten());
        for list in [
            &self.dof,
            &self.tendon,
            &self.length,
            &self.actuator,
            &self.acceleration,
            &self.resting,
        ] {
            into.extend(list);
        }
        into.extend(self.connects.iter().flatten());
        into.extend(self.welds.iter().flatten());
    }

    /// From numbers in that order.
    pub fn unflatten(&mut self, from: &[S]) {
        let mut next = from.iter().copied();
        let mut take = |slot: &mut S| {
            if let Some(value) = next.next() {
                *slot = value;
            }
        };
        self.body.iter_mut().flatten().for_each(&mut take);
        for list in [
            &mut self.dof,
            &mut self.tendon,
            &mut self.length,
            &mut self.actuator,
            &mut self.acceleration,
            &mut self.resting,
        ] {
            list.iter_mut().for_each(&mut take);
        }
        self.connects.iter_mut().flatten().for_each(&mut take);
        self.welds.iter_mut().flatten().for_each(&mut take);
    }
}

/// A row whose inverse inertia is computed.
#[derive(Clone, Copy, Debug)]
enum Row {
    /// Velocity of a body's centre of mass along an axis of the world.
    Translation(usize, usize),
    /// Angular velocity of a body about an axis of the world.
    Rotation(usize, usize),
    /// A degree of freedom.
    Dof(usize),
    /// A tendon.
    Tendon(usize),
    /// An actuator.
    Actuator(usize),
}

/// Room for the evaluation.
#[derive(Clone, Debug)]
pub(super) struct Pose<S> {
    dynamics: Dynamics<S>,
    row: Vec<S>,
}

impl<S: Scalar> Pose<S> {
    pub fn new(tree: &Tree) -> Self {
        Self { dynamics: Dynamics::new(tree), row: vec![S::zero(); tree.nv] }
    }

    /// Places, rows and the factors of M at the reference pose. Returns a degree of freedom whose
    /// inertia is not positive.
    fn update(&mut self, tree: &Tree, layout: &Layout, c: &[S]) -> Option<usize> {
        let qpos = &c[layout.qpos0.range()];
        let d = &mut self.dynamics;
        d.update_position(tree, layout, c, qpos);
        d.update_mass(tree, layout, c);
        d.factors.entries.copy_from_slice(&d.mass.entries);
        let zero = vec![S::zero(); tree.nv];
        let Dynamics { kinematics, tendons, actuation, .. } = d;
        actuation.update_transmission(tree, layout, c, kinematics, tendons, qpos, &zero);
        d.factors.factorise(tree)
    }

    /// Writes a row into `self.row`.
    fn fill(&mut self, tree: &Tree, row: Row) {
        self.row.fill(S::zero());
        let d = &self.dynamics;
        let k = &d.kinematics;
        match row {
            Row::Translation(b, axis) | Row::Rotation(b, axis) => {
                let e =
                    Vec3::from_array([0, 1, 2].map(|i| S::splat(f64::from(u8::from(i == axis)))));
                let force = if matches!(row, Row::Translation(..)) {
                    Force::at_point(e, k.xipos[b] - k.origin[b])
                } else {
                    Force::new(e, Vec3::zero())
                };
                let mut next = tree.last_dof[b];
                while let Some(dof) = next {
                    self.row[dof] = k.subspace[dof].dot(force);
                    next = tree.dof_parent[dof];
                }
            }
            Row::Dof(dof) => self.row[dof] = S::one(),
            Row::Tendon(t) => {
                for at in d.tendons.entries(t) {
                    self.row[d.tendons.dofs[at]] += d.tendons.jacobian[at];
                }
            }
            Row::Actuator(i) => {
                for at in d.actuation.entries(i) {
                    self.row[d.actuation.dofs[at]] += d.actuation.moment[at];
                }
            }
        }
    }

    /// J M⁻¹ Jᵀ of a row, and M⁻¹ Jᵀ in `self.row`.
    fn weigh(&mut self, tree: &Tree, row: Row) -> S {
        self.fill(tree, row);
        let jacobian = self.row.clone();
        self.dynamics.factors.solve(tree, &mut self.row);
        let mut sum = S::zero();
        for (j, x) in jacobian.iter().zip(&self.row) {
            sum += *j * *x;
        }
        sum
    }

    /// All results. Returns a degree of freedom whose inertia is not positive.
    pub fn evaluate(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        wanted: &Wanted,
        out: &mut Results<S>,
    ) -> Option<usize> {
        let bad = self.update(tree, layout, c);
        if bad.is_some() {
            return bad;
        }
        let third = S::splat(1.0 / 3.0);
        for b in 1..tree.bodies.len() {
            if tree.last_dof[b].is_none() {
                continue;
            }
            let (mut translation, mut rotation) = (S::zero(), S::zero());
            for axis in 0..3 {
                translation += self.weigh(tree, Row::Translation(b, axis));
                rotation += self.weigh(tree, Row::Rotation(b, axis));
            }
            out.body[b] = [translation * third, rotation * third];
        }
        for joint in &tree.joints {
            for (start, end) in dof_groups(joint.kind, joint.dof) {
                let mut sum = S::zero();
                for dof in start..end {
                    sum += self.weigh(tree, Row::Dof(dof));
                }
                out.dof[start..end].fill(sum * S::splat(1.0 / (end - start) as f64));
            }
        }
        for t in 0..tree.tendons.len() {
            out.tendon[t] = self.weigh(tree, Row::Tendon(t));
            out.length[t] = self.dynamics.tendons.length[t];
        }
        for i in 0..tree.actuators.len() {
            out.actuator[i] = self.weigh(tree, Row::Actuator(i));
            let mut squared = S::zero();
            for x in &self.row {
                squared += *x * *x;
            }
            out.acceleration[i] = squared.sqrt();
        }
        let k = &self.dynamics.kinematics;
        for (slot, &(e, [first, second])) in out.connects.iter_mut().zip(&wanted.connects) {
            let point = k.xpos[first] + k.xmat[first].apply(anchor(layout, c, e));
            *slot = k.xmat[second].apply_transposed(point - k.xpos[second]).to_array();
        }
        for (slot, &(e, [first, second])) in out.welds.iter_mut().zip(&wanted.welds) {
            let point = k.xpos[second] + k.xmat[second].apply(anchor(layout, c, e));
            let [x, y, z] = k.xmat[first].apply_transposed(point - k.xpos[first]).to_array();
            let q = k.xquat[first].conjugate().product(k.xquat[second]);
            *slot = [x, y, z, q.w, q.v.x, q.v.y, q.v.z];
        }
        if !wanted.resting.is_empty() {
            let qpos = &c[layout.qpos_spring.range()];
            let d = &mut self.dynamics;
            d.kinematics.update(tree, layout, c, qpos);
            d.tendons.update(tree, layout, c, &d.kinematics, qpos);
            for (slot, &t) in out.resting.iter_mut().zip(&wanted.resting) {
                *slot = d.tendons.length[t];
            }
        }
        None
    }
}

/// The degrees of freedom of a joint whose inverse inertias are averaged.
fn dof_groups(kind: JointKind, dof: usize) -> Vec<(usize, usize)> {
    match kind {
        JointKind::Free => vec![(dof, dof + 3), (dof + 3, dof + 6)],
        JointKind::Ball => vec![(dof, dof + 3)],
        JointKind::Slide | JointKind::Hinge => vec![(dof, dof + 1)],
    }
}

fn anchor<S: Scalar>(layout: &Layout, c: &[S], e: usize) -> Vec3<S> {
    vec3(c, layout.eq_data, e)
}

/// Two sets of joint rates with the twists that they give the bodies.
#[derive(Clone, Copy)]
struct Rates<'a> {
    v: &'a [f64],
    lambda: &'a [f64],
    velocity: &'a [Motion<f64>],
    twist: &'a [Motion<f64>],
}

/// Scratch of the pullback.
struct Pull<'a> {
    tree: &'a Tree,
    layout: &'a Layout,
    c: &'a [f64],
    pose: &'a mut Pose<f64>,
    c_bar: &'a mut [f64],
    bodies: Vec<BodyAdjoint>,
    transport: Transport,
    q_bar: Vec<f64>,
}

/// Adds to `c_bar` what the adjoints `bar` of the results give.
pub(super) fn pull(
    tree: &Tree,
    layout: &Layout,
    c: &[f64],
    wanted: &Wanted,
    bar: &Results<f64>,
    pose: &mut Pose<f64>,
    c_bar: &mut [f64],
) {
    if pose.update(tree, layout, c).is_some() {
        return;
    }
    let bodies = vec![BodyAdjoint::zero(); tree.bodies.len()];
    let (transport, q_bar) = (Transport::default(), vec![0.0; tree.nv]);
    let mut p = Pull { tree, layout, c, pose, c_bar, bodies, transport, q_bar };
    for b in 1..tree.bodies.len() {
        for axis in 0..3 {
            p.inverse_inertia(Row::Translation(b, axis), bar.body[b][0] / 3.0);
            p.inverse_inertia(Row::Rotation(b, axis), bar.body[b][1] / 3.0);
        }
    }
    for joint in &tree.joints {
        for (start, end) in dof_groups(joint.kind, joint.dof) {
            let mean = bar.dof[start..end].iter().sum::<f64>() / (end - start) as f64;
            for dof in start..end {
                p.inverse_inertia(Row::Dof(dof), mean);
            }
        }
    }
    for t in 0..tree.tendons.len() {
        p.inverse_inertia(Row::Tendon(t), bar.tendon[t]);
    }
    for i in 0..tree.actuators.len() {
        p.inverse_inertia(Row::Actuator(i), bar.actuator[i]);
        p.acceleration(i, bar.acceleration[i]);
    }
    p.equalities(wanted, bar);
    for (t, &value) in bar.length.iter().enumerate() {
        p.tendon_length(t, value, layout.qpos0.start);
    }
    let at_rest = c[layout.qpos0.range()].to_vec();
    p.carry(&at_rest, None);
    p.reference_configuration(layout.qpos0.start);
    if bar.resting.iter().any(|x| *x != 0.0) {
        let qpos = &c[layout.qpos_spring.range()];
        let d = &mut p.pose.dynamics;
        d.kinematics.update(tree, layout, c, qpos);
        d.tendons.update(tree, layout, c, &d.kinematics, qpos);
        for (&t, &value) in wanted.resting.iter().zip(&bar.resting) {
            p.tendon_length(t, value, layout.qpos_spring.start);
        }
        p.carry(qpos, None);
        p.reference_configuration(layout.qpos_spring.start);
    }
}

impl Pull<'_> {
    /// Adjoint of J M⁻¹ Jᵀ.
    fn inverse_inertia(&mut self, row: Row, bar: f64) {
        if bar == 0.0 {
            return;
        }
        self.pose.weigh(self.tree, row);
        let x = self.pose.row.clone();
        self.bilinear(row, 2.0 * bar, bar, &x, &x);
    }

    /// Adjoint of |M⁻¹ Jᵀ|.
    fn acceleration(&mut self, i: usize, bar: f64) {
        if bar == 0.0 {
            return;
        }
        self.pose.weigh(self.tree, Row::Actuator(i));
        let x = self.pose.row.clone();
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            return;
        }
        let mut lambda: Vec<f64> = x.iter().map(|x| x / length).collect();
        self.pose.dynamics.factors.solve(self.tree, &mut lambda);
        self.bilinear(Row::Actuator(i), bar, bar, &x, &lambda);
    }

    /// Adjoint of `rate` J λ − `energy` λᵀ M x at fixed x and λ.
    fn bilinear(&mut self, row: Row, rate: f64, energy: f64, x: &[f64], lambda: &[f64]) {
        let (tree, layout) = (self.tree, self.layout);
        let n = tree.bodies.len();
        let mut velocity = vec![Motion::zero(); n];
        let mut twist = vec![Motion::zero(); n];
        {
            let subspace = &self.pose.dynamics.kinematics.subspace;
            twists(tree, subspace, x, &mut velocity);
            twists(tree, subspace, lambda, &mut twist);
        }
        for (dof, (x, l)) in x.iter().zip(lambda).enumerate() {
            self.c_bar[layout.dof_armature.at(dof)] -= energy * x * l;
        }
        for b in 1..n {
            self.energy(b, energy, velocity[b], twist[b]);
        }
        self.rate(row, rate, lambda, &twist);
        let qpos = self.c[layout.qpos0.range()].to_vec();
        let rates = Rates { v: x, lambda, velocity: &velocity, twist: &twist };
        self.carry(&qpos, Some(rates));
    }

    /// Adjoint of −`weight` V(λ)·I V of one body.
    fn energy(&mut self, b: usize, weight: f64, v: Motion<f64>, l: Motion<f64>) {
        let (layout, c) = (self.layout, self.c);
        let d = &self.pose.dynamics;
        let k = &d.kinematics;
        let inertia = d.inertias[b];
        let (momentum, other) = (inertia.apply(v) * weight, inertia.apply(l) * weight);
        let body = &mut self.bodies[b];
        body.velocity -= other;
        body.lambda -= momentum;
        body.place += v.cross_force(other) + l.cross_force(momentum);
        // Angular velocity and that of the centre of mass, in the body's axes.
        let r = k.xipos[b] - k.origin[b];
        let turn = k.xmat[b];
        let local = |m: Motion<f64>| {
            (turn.apply_transposed(m.angular), turn.apply_transposed(m.linear + m.angular.cross(r)))
        };
        let ((w, u), (wl, ul)) = (local(v), local(l));
        let mass = c[layout.body_mass.at(b)];
        self.c_bar[layout.body_mass.at(b)] -= weight * u.dot(ul);
        let center = (u.cross(wl) + ul.cross(w)) * (-mass * weight);
        for (i, value) in center.to_array().into_iter().enumerate() {
            self.c_bar[layout.body_ipos.at(b) + i] += value;
        }
        let at = layout.body_inertia.at(b);
        let products = [
            w.x * wl.x,
            w.x * wl.y + w.y * wl.x,
            w.y * wl.y,
            w.x * wl.z + w.z * wl.x,
            w.y * wl.z + w.z * wl.y,
            w.z * wl.z,
        ];
        for (i, value) in products.into_iter().enumerate() {
            self.c_bar[at + i] -= weight * value;
        }
    }

    /// Adjoint of `weight` J λ, v being the twists V(λ).
    fn rate(&mut self, row: Row, weight: f64, x: &[f64], v: &[Motion<f64>]) {
        let (tree, layout, c) = (self.tree, self.layout, self.c);
        match row {
            Row::Dof(_) => {}
            Row::Translation(b, axis) => {
                let k = &self.pose.dynamics.kinematics;
                let r = k.xipos[b] - k.origin[b];
                let force = unit(axis) * weight;
                let moved = force.cross(v[b].angular);
                let center = k.xmat[b].apply_transposed(moved);
                for (i, value) in center.to_array().into_iter().enumerate() {
                    self.c_bar[layout.body_ipos.at(b) + i] += value;
                }
                self.act(b, Force::at_point(force, r), Force::at_point(moved, r));
            }
            Row::Rotation(b, axis) => {
                self.act(b, Force::new(unit(axis) * weight, Vec3::zero()), Force::zero());
            }
            Row::Tendon(t) => match &tree.tendons[t].path {
                TendonPath::Fixed { joints } => {
                    for (i, &j) in joints.iter().enumerate() {
                        let at = layout.wrap_prm.at(tree.tendons[t].wraps.start + i);
                        self.c_bar[at] += weight * x[tree.joints[j].dof];
                    }
                }
                TendonPath::Spatial { .. } => {
                    for piece in pieces(tree, t) {
                        self.piece_rate(piece, weight, v);
                    }
                }
            },
            Row::Actuator(i) => {
                let gear = layout.actuator_gear.at(i);
                match tree.actuators[i].transmission {
                    Transmission::Tendon(t) => {
                        let tendons = &self.pose.dynamics.tendons;
                        let rate: f64 = tendons
                            .entries(t)
                            .map(|at| tendons.jacobian[at] * x[tendons.dofs[at]])
                            .sum();
                        self.c_bar[gear] += weight * rate;
                        self.rate(Row::Tendon(t), weight * c[gear], x, v);
                    }
                    Transmission::Joint(j) | Transmission::JointInParent(j) => {
                        // At the reference pose the axes of a ball's child and parent agree; those of
                        // a free joint's child do where nothing turns it (the structure is checked).
                        let joint = &tree.joints[j];
                        for k in 0..joint.kind.dofs() {
                            self.c_bar[gear + k] += weight * x[joint.dof + k];
                        }
                    }
                    // Only values without influence on the motion are asked of sites (the structure is
                    // checked).
                    Transmission::Site { .. } => {}
                }
            }
        }
    }

    fn act(&mut self, b: usize, motion: Force<f64>, place: Force<f64>) {
        let body = &mut self.bodies[b];
        body.lambda += motion;
        body.place += place;
    }

    /// Two ends of a piece of a tendon: body, point about the origin of its tree, in world axes.
    fn ends(&self, piece: super::super::tendon::Piece) -> [(usize, usize, Vec3<f64>); 2] {
        let k = &self.pose.dynamics.kinematics;
        piece.sites.map(|s| {
            let place = k.site(self.tree, self.layout, self.c, s);
            (s, self.tree.sites[s].body, place.position)
        })
    }

    /// Adjoint of `weight` times the rate of a straight piece.
    fn piece_rate(&mut self, piece: super::super::tendon::Piece, weight: f64, v: &[Motion<f64>]) {
        let part = share(self.layout, self.c, piece);
        let ends = self.ends(piece);
        let arms = ends.map(|(_, b, p)| p - self.pose.dynamics.kinematics.origin[b]);
        let speed = [0, 1].map(|i| v[ends[i].1].linear + v[ends[i].1].angular.cross(arms[i]));
        let (direction, distance) = (ends[1].2 - ends[0].2).normalize();
        if distance == 0.0 {
            return;
        }
        let relative = speed[1] - speed[0];
        let rate = direction.dot(relative);
        if let Some(at) = piece.divisor {
            let at = self.layout.wrap_prm.at(at);
            self.c_bar[at] -= weight * rate * part / self.c[at];
        }
        // By the second end's position at fixed velocities of the points.
        let turned = (relative - direction * rate) * (weight * part / distance);
        for (i, sign) in [(0, -1.0), (1, 1.0)] {
            let (site, b, _) = ends[i];
            let r = arms[i];
            let pull = direction * (weight * part * sign);
            // A moved point has another velocity, too.
            let place = turned * sign + pull.cross(v[b].angular);
            self.act(b, Force::at_point(pull, r), Force::at_point(place, r));
            self.site_bar(site, b, place);
        }
    }

    /// Adds to the adjoint of a site's place in its body that of its place in the world.
    fn site_bar(&mut self, site: usize, b: usize, bar: Vec3<f64>) {
        let local = self.pose.dynamics.kinematics.xmat[b].apply_transposed(bar);
        for (i, value) in local.to_array().into_iter().enumerate() {
            self.c_bar[self.layout.site_pos.at(site) + i] += value;
        }
    }

    /// Adjoint of a tendon's length at the configuration at `qpos` within the constants.
    fn tendon_length(&mut self, t: usize, bar: f64, qpos: usize) {
        if bar == 0.0 {
            return;
        }
        let tree = self.tree;
        if let TendonPath::Fixed { joints } = &tree.tendons[t].path {
            for (i, &j) in joints.iter().enumerate() {
                let at = self.layout.wrap_prm.at(tree.tendons[t].wraps.start + i);
                let q = qpos + tree.joints[j].qpos;
                self.c_bar[at] += bar * self.c[q];
                self.c_bar[q] += bar * self.c[at];
            }
            return;
        }
        for piece in pieces(tree, t) {
            let part = share(self.layout, self.c, piece);
            let ends = self.ends(piece);
            let (direction, distance) = (ends[1].2 - ends[0].2).normalize();
            if let Some(at) = piece.divisor {
                let at = self.layout.wrap_prm.at(at);
                self.c_bar[at] -= bar * distance * part / self.c[at];
            }
            for (i, sign) in [(0, -1.0), (1, 1.0)] {
                let (site, b, point) = ends[i];
                let pull = direction * (bar * part * sign);
                let r = point - self.pose.dynamics.kinematics.origin[b];
                self.bodies[b].place += Force::at_point(pull, r);
                self.site_bar(site, b, pull);
            }
        }
    }

    /// Adjoints of anchors and relative poses, as displacements of their bodies.
    fn equalities(&mut self, wanted: &Wanted, bar: &Results<f64>) {
        let (layout, c) = (self.layout, self.c);
        // A point that is fixed in `from`, seen from `to`.
        let mut seen = |e: usize, from: usize, to: usize, bar: &[f64]| {
            let k = &self.pose.dynamics.kinematics;
            let point = k.xpos[from] + k.xmat[from].apply(anchor(layout, c, e));
            let force = k.xmat[to].apply(Vec3::new(bar[0], bar[1], bar[2]));
            let own = k.xmat[from].apply_transposed(force);
            let (a, b) = (point - k.origin[from], point - k.origin[to]);
            for (i, value) in own.to_array().into_iter().enumerate() {
                self.c_bar[layout.eq_data.at(e) + i] += value;
            }
            self.bodies[from].place += Force::at_point(force, a);
            self.bodies[to].place += Force::at_point(-force, b);
        };
        for (&(e, [first, second]), bar) in wanted.connects.iter().zip(&bar.connects) {
            seen(e, first, second, bar);
        }
        for (&(e, [first, second]), bar) in wanted.welds.iter().zip(&bar.welds) {
            seen(e, second, first, &bar[..3]);
        }
        for (&(_, [first, second]), bar) in wanted.welds.iter().zip(&bar.welds) {
            let k = &self.pose.dynamics.kinematics;
            let g = Quat::new(bar[3], bar[4], bar[5], bar[6]);
            let turned = k.xquat[first].product(g).product(k.xquat[second].conjugate());
            let torque = turned.v * 0.5;
            self.bodies[second].place += Force::new(torque, Vec3::zero());
            self.bodies[first].place += Force::new(-torque, Vec3::zero());
        }
    }

    /// Carries what the bodies have got to the constants and the configuration.
    fn carry(&mut self, qpos: &[f64], rates: Option<Rates>) {
        let (n, nv) = (self.tree.bodies.len(), self.tree.nv);
        let (zeros, still) = (vec![0.0; nv], vec![Motion::zero(); n]);
        let Rates { v, lambda, velocity, twist } =
            rates.unwrap_or(Rates { v: &zeros, lambda: &zeros, velocity: &still, twist: &still });
        let mut v_bar = vec![0.0; nv];
        let motions = Motions {
            v,
            a: &zeros,
            lambda,
            velocity,
            acceleration: &still,
            lambda_twist: twist,
            push_twist: &still,
        };
        let mut bar = TransportAdjoints { q: &mut self.q_bar, v: &mut v_bar, c: self.c_bar };
        let k = &self.pose.dynamics.kinematics;
        let (tree, layout) = (self.tree, self.layout);
        self.transport.run(tree, layout, self.c, k, qpos, motions, &self.bodies, &mut bar);
        self.bodies.fill(BodyAdjoint::zero());
    }

    /// Adds the adjoint of the configuration to that of the constants that it consists of, which
    /// start at `at`, and clears it.
    fn reference_configuration(&mut self, at: usize) {
        for joint in &self.tree.joints {
            let (q, dof) = (at + joint.qpos, joint.dof);
            let bar = &mut self.q_bar;
            match joint.kind {
                JointKind::Slide | JointKind::Hinge => self.c_bar[q] += bar[dof],
                JointKind::Ball => add_turn(self.c, self.c_bar, q, &bar[dof..]),
                JointKind::Free => {
                    for i in 0..3 {
                        self.c_bar[q + i] += bar[dof + i];
                    }
                    add_turn(self.c, self.c_bar, q + 3, &bar[dof + 3..]);
                }
            }
        }
        self.q_bar.fill(0.0);
    }
}

fn unit(axis: usize) -> Vec3<f64> {
    Vec3::from_array([0, 1, 2].map(|i| f64::from(u8::from(i == axis))))
}

/// The adjoint of a quaternion from that of turns in the axes that it gives: δθ = 2 Im(q* δq)/|q|².
fn add_turn(c: &[f64], c_bar: &mut [f64], at: usize, bar: &[f64]) {
    let q = quat_at(c, at);
    let squared = q.w * q.w + q.v.dot(q.v);
    if squared == 0.0 {
        return;
    }
    let turn = Vec3::new(bar[0], bar[1], bar[2]) * (2.0 / squared);
    let by = q.product(Quat { w: 0.0, v: turn });
    for (i, value) in [by.w, by.v.x, by.v.y, by.v.z].into_iter().enumerate() {
        c_bar[at + i] += value;
    }
}
