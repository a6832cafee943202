//! Slider-cranks: a rod of given length from a crank's site to a slider, which moves along the z axis a of its site.
//!
//! With d from the slider's site to the crank's, the slider is at l = a·d − √((a·d)² + L² − |d|²) along its axis; where
//! the rod does not reach, at a·d (MuJoCo's chapter *Modeling*, section *Actuators*).

use costate_num::spatial::Force;
use costate_num::{Dual, DualN, Scalar, Vec3};

use super::actuation::Actuation;
use super::adjoint::{Adjoint, Place};
use super::constants::Layout;
use super::kinematics::Kinematics;
use super::tree::Tree;

/// Where the slider is along its axis.
fn place<S: Scalar>(apart: Vec3<S>, axis: Vec3<S>, rod: S) -> S {
    let along = axis.dot(apart);
    let squared = along * along + rod * rod - apart.dot(apart);
    let reaches = squared.gt(S::zero());
    let root = S::select(reaches, squared, S::one()).sqrt();
    S::select(reaches, along - root, along)
}

/// z of a site.
fn axis<S: Scalar>(tree: &Tree, layout: &Layout, c: &[S], k: &Kinematics<S>, s: usize) -> Vec3<S> {
    let z = Vec3::new(S::zero(), S::zero(), S::one());
    k.site(tree, layout, c, s).orientation.rotate(z)
}

impl<S: Scalar> Actuation<S> {
    /// Length and moment of actuator `i` on a slider-crank.
    pub(super) fn slider_crank(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        k: &Kinematics<S>,
        i: usize,
        [crank, slider]: [usize; 2],
    ) {
        let [end, from] = [crank, slider].map(|s| k.site(tree, layout, c, s).position);
        let along = axis(tree, layout, c, k, slider);
        let gear = c[layout.actuator_gear.at(i)];
        type Six<S> = DualN<S, 6>;
        let lift = |v: Vec3<S>, first: usize| {
            Vec3::<Six<S>>::new(
                Six::variable(v.x, first),
                Six::variable(v.y, first + 1),
                Six::variable(v.z, first + 2),
            )
        };
        let rod = Six::constant(c[layout.actuator_cranklength.at(i)]);
        let found = place(lift(end - from, 0), lift(along, 3), rod);
        self.length[i] = found.value * gear;
        let t = found.tangent;
        let (pull, turn) = (Vec3::new(t[0], t[1], t[2]), Vec3::new(t[3], t[4], t[5]));
        let bodies = [crank, slider].map(|s| tree.sites[s].body);
        let own = Force::at_point(pull, end - k.origin[bodies[0]]);
        let other = Force::new(along.cross(turn), Vec3::zero())
            - Force::at_point(pull, from - k.origin[bodies[1]]);
        for entry in self.entries(i) {
            let dof = self.dofs[entry];
            let on_crank = tree.is_above(tree.dof_body[dof], bodies[0]);
            let wrench = if on_crank { own } else { other };
            self.moment[entry] = k.subspace[dof].dot(wrench) * gear;
        }
    }
}

/// Directions of the adjoint: displacements of both points, a turn of the slider's axis, the rod's length.
type Lane = DualN<f64, 10>;

impl Place<'_> {
    /// Adds the adjoint of the length and the moment (by entry) of actuator `i` on a slider-crank.
    pub(super) fn pull_slider_crank(
        self,
        i: usize,
        [crank, slider]: [usize; 2],
        dofs: &[usize],
        qpos: &[f64],
        by_length: f64,
        by_moment: &[f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, k } = self;
        let bodies = [crank, slider].map(|s| tree.sites[s].body);
        let points = [crank, slider].map(|s| k.site(tree, layout, c, s).position);
        let mut rates = [vec![0.0; tree.nv], vec![0.0; tree.nv]];
        for (&dof, by) in dofs.iter().zip(by_moment) {
            let on_crank = tree.is_above(tree.dof_body[dof], bodies[0]);
            rates[usize::from(!on_crank)][dof] += by;
        }
        let twists = [0, 1].map(|n| self.twist(bodies[n], &rates[n]));
        let constant = |v: Vec3<f64>| Vec3::from_array(v.to_array().map(Lane::constant));
        let variable = |v: Vec3<f64>, first: usize| {
            let [x, y, z] = v.to_array();
            Vec3::new(
                Lane::variable(x, first),
                Lane::variable(y, first + 1),
                Lane::variable(z, first + 2),
            )
        };
        let moved = [variable(points[0], 0), variable(points[1], 3)];
        let along = axis(tree, layout, c, k, slider);
        let turned = constant(along) + variable(Vec3::zero(), 6).cross(constant(along));
        // The rates of the points and of the axis for the joint rates of the moment.
        let speed = |n: usize| {
            let arm = moved[n] - constant(k.origin[bodies[n]]);
            constant(twists[n].linear) + constant(twists[n].angular).cross(arm)
        };
        let turning = constant(twists[1].angular).cross(turned);
        let gear_at = layout.actuator_gear.at(i);
        let rod_at = layout.actuator_cranklength.at(i);
        let pair = |x: Vec3<Lane>, rate: Vec3<Lane>| {
            let (x, rate) = (x.to_array(), rate.to_array());
            Vec3::from_array([0, 1, 2].map(|n| Dual::new(x[n], rate[n])))
        };
        let found = place(
            pair(moved[0] - moved[1], speed(0) - speed(1)),
            pair(turned, turning),
            Dual::constant(Lane::variable(c[rod_at], 9)),
        );
        let total = found.value * Lane::constant(by_length) + found.tangent[0];
        out.c[gear_at] += total.value;
        let gear = c[gear_at];
        let by = |first: usize| {
            let t = &total.tangent;
            Vec3::new(t[first], t[first + 1], t[first + 2]) * gear
        };
        out.c[rod_at] += gear * total.tangent[9];
        // The wrenches that the joint rates are multiplied by.
        type Six = DualN<f64, 6>;
        let lift = |v: Vec3<f64>, first: usize| {
            let [x, y, z] = v.to_array();
            Vec3::new(
                Six::variable(x, first),
                Six::variable(y, first + 1),
                Six::variable(z, first + 2),
            )
        };
        let slope = place(lift(points[0] - points[1], 0), lift(along, 3), Six::constant(c[rod_at]));
        let t = slope.tangent.map(|x| x * gear);
        let (pull, turn) = (Vec3::new(t[0], t[1], t[2]), Vec3::new(t[3], t[4], t[5]));
        let arms = [0, 1].map(|n| points[n] - k.origin[bodies[n]]);
        let wrenches = [
            Force::at_point(pull, arms[0]),
            Force::new(along.cross(turn), Vec3::zero()) - Force::at_point(pull, arms[1]),
        ];
        let displaced = [
            Force::at_point(by(0), arms[0]),
            Force::at_point(by(3), arms[1]) + Force::new(by(6), Vec3::zero()),
        ];
        let blocks = (layout.site_pos, layout.site_quat);
        for (n, site) in [crank, slider].into_iter().enumerate() {
            self.pull_frame(bodies[n], blocks, site, displaced[n], out);
            let (wrench, moved) = (wrenches[n], displaced[n]);
            self.pull_chain(bodies[n], wrench, &rates[n], moved, qpos, true, &mut [], out);
        }
    }
}
