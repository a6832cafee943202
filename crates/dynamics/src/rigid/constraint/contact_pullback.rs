//! Adjoint of a contact's rows: to the motions of its two bodies, to its geometry by dual lanes, and to
//! its parameters through their mixing.

use costate_num::spatial::Force;
use costate_num::{DualN, Mat3, Vec3};

use super::attachment::pull_orientation;
use super::build::{Constraints, Item, RowInputs, Source};
use super::contact::{
    Contact, MAX_ROWS, diagonal, has_friction_solref, is_averaged, masses, mix_weight, prior,
};
use super::impedance::{Response, SolverParameters};
use super::pullback::{RowAdjoints, RowSeeds, pull_response};
use super::search::{reach, relaxation, shape, surface};
use crate::rigid::collision::{self, Pairing, Shape};
use crate::rigid::constants::Block;
use crate::rigid::transport::Motions;

/// Adjoints of a contact's point, axes (normal and tangents) and distance.
#[derive(Clone, Copy)]
struct GeometryBar {
    position: Vec3<f64>,
    axes: [Vec3<f64>; 3],
    distance: f64,
}

/// Adjoints of a contact's parameters.
#[derive(Clone, Copy, Default)]
struct ParameterBar {
    friction: [f64; 5],
    margin: f64,
    solref: [f64; 2],
    solimp: [f64; 5],
    friction_solref: [f64; 2],
}

/// Adjoint of the contacts of two geoms, one after the other among the items: their geometry is differentiated
/// at once.
pub(super) fn pull(
    constraints: &Constraints<f64>,
    at: RowInputs<f64>,
    motions: Motions,
    items: &[Item],
    seeds: RowSeeds,
    bar: &mut RowAdjoints,
) {
    let mut geometry = Vec::with_capacity(items.len());
    let mut pair = None;
    for &item in items {
        let Source::Contact(i) = item.source else { continue };
        let contact = &constraints.contacts[i];
        let mut by = ParameterBar::default();
        let (rates, position) = pull_rows(constraints, at, contact, item, seeds, &mut by, bar);
        by.margin -= position;
        let own = pull_motions(at, motions, contact, item, &rates, position, seeds, &mut by, bar);
        geometry.push((contact.index, own));
        pull_parameters(at, contact, &by, bar);
        pair = Some(contact);
    }
    if let Some(contact) = pair {
        pull_geometry(at, contact, &geometry, bar);
    }
}

/// Adjoint of a contact itself, whatever its rows.
#[derive(Clone, Copy, Debug)]
pub(in crate::rigid) struct TouchBar {
    /// Its place among the contacts of the state.
    pub contact: usize,
    /// Of its position.
    pub position: Vec3<f64>,
    /// Of its normal and tangents.
    pub axes: [Vec3<f64>; 3],
    /// Of its distance.
    pub distance: f64,
    /// Of its margin.
    pub margin: f64,
    /// Of its coefficients of friction.
    pub friction: [f64; 5],
}

impl TouchBar {
    /// Of a contact's depth, the margin less the distance.
    pub fn of_depth(contact: usize, bar: f64) -> Self {
        let zero = Vec3::zero();
        let (position, axes) = (zero, [zero; 3]);
        Self { contact, position, axes, distance: -bar, margin: bar, friction: [0.0; 5] }
    }
}

/// From the adjoint of a contact to its geoms and parameters.
pub(super) fn pull_touch(
    constraints: &Constraints<f64>,
    at: RowInputs<f64>,
    by: &TouchBar,
    bar: &mut RowAdjoints,
) {
    let contact = &constraints.contacts[by.contact];
    let TouchBar { position, axes, distance, margin, friction, .. } = *by;
    let geometry = GeometryBar { position, axes, distance };
    pull_geometry(at, contact, &[(contact.index, geometry)], bar);
    let by = ParameterBar { margin, friction, ..ParameterBar::default() };
    pull_parameters(at, contact, &by, bar);
}

/// References and masses. Returns the adjoint of each row's rate, and that of the position.
fn pull_rows(
    constraints: &Constraints<f64>,
    at: RowInputs<f64>,
    contact: &Contact,
    item: Item,
    seeds: RowSeeds,
    by: &mut ParameterBar,
    bar: &mut RowAdjoints,
) -> ([f64; MAX_ROWS], f64) {
    let p = &contact.parameters;
    let least = at.least_time_constant();
    let at_position = constraints.states[item.row].position;
    let Response { stiffness: k, impedance: d, .. } = constraints.responses[item.row];
    let cone = constraints.rows.cones.binary_search_by_key(&item.row, |cone| cone.row).ok();
    let own = SolverParameters { solref: p.friction_solref, ..p.solver };
    let separate = cone.is_some() && has_friction_solref(p);

    let mut rates = [0.0; MAX_ROWS];
    let mut position = 0.0;
    let mut by_response = Response { stiffness: 0.0, damping: 0.0, impedance: 0.0 };
    let mut by_friction_damping = 0.0;
    let mut mass = [0.0; MAX_ROWS];
    for r in 0..item.count {
        let own = constraints.pull_reference(item, item.row + r, seeds);
        (rates[r], mass[r]) = (own.velocity, own.mass);
        if cone.is_some() && r > 0 {
            by_friction_damping += own.damping;
        } else {
            by_response.damping += own.damping;
            by_response.stiffness += own.stiffness;
            by_response.impedance += own.impedance;
            position += own.position;
        }
    }
    if separate {
        type D = DualN<f64, 7>;
        let lanes = SolverParameters::<D> {
            solref: [D::variable(own.solref[0], 0), D::variable(own.solref[1], 1)],
            solimp: std::array::from_fn(|n| D::variable(own.solimp[n], 2 + n)),
        };
        let damping = lanes.stiffness_damping(D::constant(least)).1;
        for n in 0..2 {
            by.friction_solref[n] += by_friction_damping * damping.tangent[n];
        }
        for n in 0..5 {
            by.solimp[n] += by_friction_damping * damping.tangent[2 + n];
        }
    } else {
        by_response.damping += by_friction_damping;
    }
    let diagonals = (d, constraints.states[item.row].diagonal);
    by_response.impedance +=
        pull_masses(at, contact, item, diagonals, (&mass, seeds), cone, by, bar);
    if at.tree.options.relaxation > 0.0 {
        let rows = if cone.is_some() { 1 } else { item.count };
        let by_width: f64 = seeds.loss[item.row..item.row + rows].iter().sum();
        let width = relaxed_width(at, at_position);
        by_response.stiffness += by_width * width.value * d;
        by_response.impedance += by_width * width.value * k;
        position += by_width * width.tangent[0] * k * d;
    }
    let numbers = pull_response(p.solver, at_position, least, by_response);
    for n in 0..2 {
        by.solref[n] += numbers[n];
    }
    for n in 0..5 {
        by.solimp[n] += numbers[2 + n];
    }
    (rates, position + numbers[7])
}

/// The width of a relaxed contact with its derivative by the position.
fn relaxed_width(at: RowInputs<f64>, position: f64) -> DualN<f64, 1> {
    relaxation(at.tree, DualN::variable(position, 0))
}

/// Constraint masses and the cone; returns the adjoint of the impedance.
fn pull_masses(
    at: RowInputs<f64>,
    contact: &Contact,
    item: Item,
    (impedance, exact): (f64, f64),
    (mass, seeds): (&[f64; MAX_ROWS], RowSeeds),
    cone: Option<usize>,
    by: &mut ParameterBar,
    bar: &mut RowAdjoints,
) -> f64 {
    type D = DualN<f64, 7>;
    let (layout, c) = (at.layout, at.c);
    let p = &contact.parameters;
    let elliptic = at.tree.options.elliptic;
    let weights = contact.bodies(at).map(|body| layout.body_invweight0.at(body));
    let friction: [D; 5] = std::array::from_fn(|n| D::variable(p.friction[n], 2 + n));
    let first = if at.tree.options.exact_diagonal {
        D::variable(exact, 1)
    } else {
        let translation = D::variable(c[weights[0]] + c[weights[1]], 1);
        diagonal(elliptic, p.dim, translation, &friction)
    };
    let ratio = at.tree.options.impedance_ratio;
    let d = D::variable(impedance, 0);
    let (found, mu) = masses(elliptic, p.dim, d, first, &friction, ratio);
    let mut total = [0.0; 7];
    for r in 0..item.count {
        for (sum, tangent) in total.iter_mut().zip(found[r].tangent) {
            *sum += mass[r] * tangent;
        }
    }
    if let Some(cone) = cone {
        for (sum, tangent) in total.iter_mut().zip(mu.tangent) {
            *sum += seeds.mu[cone] * tangent;
        }
        for n in 0..5 {
            by.friction[n] += seeds.friction[cone][n];
        }
    }
    for n in 0..5 {
        by.friction[n] += total[2 + n];
    }
    if let Some(exact) = bar.diagonal.get_mut(item.row) {
        *exact += total[1];
    } else if !at.tree.options.exact_diagonal {
        for weight in weights {
            bar.c[weight] += total[1];
        }
    }
    total[0]
}

/// The bilinear part: each row's direction times relative motions. Returns the adjoint of the geometry.
fn pull_motions(
    at: RowInputs<f64>,
    motions: Motions,
    contact: &Contact,
    item: Item,
    rates: &[f64; MAX_ROWS],
    distance: f64,
    seeds: RowSeeds,
    by: &mut ParameterBar,
    bar: &mut RowAdjoints,
) -> GeometryBar {
    let elliptic = at.tree.options.elliptic;
    let plain = elliptic || contact.parameters.dim == 1;
    let zero = Vec3::zero();
    let twists = [motions.lambda_twist, motions.push_twist, motions.velocity];
    let relative = twists.map(|twists| contact.relative(at, twists));
    // Forces on the second body at the point, and moments, for each of the three motions.
    let mut totals = [(zero, zero); 3];
    let mut axes = [zero; 3];
    let mut position = zero;
    for r in 0..item.count {
        let (linear, angular) = contact.direction(r, elliptic);
        let factors = [seeds.force[item.row + r], -seeds.weight[item.row + r], rates[r]];
        let (mut by_linear, mut by_angular) = (zero, zero);
        for n in 0..3 {
            totals[n].0 += linear * factors[n];
            totals[n].1 += angular * factors[n];
            by_linear += relative[n].0 * factors[n];
            by_angular += relative[n].1 * factors[n];
        }
        let mut to_axis = |k: usize, factor: f64| {
            if k < 3 {
                axes[k] += by_linear * factor;
            } else {
                axes[k - 3] += by_angular * factor;
            }
        };
        if plain {
            to_axis(r, 1.0);
        } else {
            let (k, sign) = (r / 2, if r.is_multiple_of(2) { 1.0 } else { -1.0 });
            to_axis(0, 1.0);
            to_axis(k + 1, sign * contact.parameters.friction[k]);
            let axis = contact.axis(k + 1);
            by.friction[k] += sign * (axis.0.dot(by_linear) + axis.1.dot(by_angular));
        }
    }
    let bodies = contact.bodies(at);
    for n in 0..3 {
        position += totals[n].0.cross(relative[n].1);
    }
    for (body, sign) in [(bodies[0], -1.0), (bodies[1], 1.0)] {
        let arm = contact.touch.position - at.dynamics.kinematics.origin[body];
        let force = |(linear, angular): (Vec3<f64>, Vec3<f64>)| {
            (Force::at_point(linear, arm) + Force::new(angular, zero)) * sign
        };
        let slot = &mut bar.bodies[body];
        slot.lambda += force(totals[0]);
        slot.push += force(totals[1]);
        slot.velocity += force(totals[2]);
    }
    GeometryBar { position, axes, distance }
}

/// Lanes: turn and displacement of each geom about its centre, then its sizes.
const LANES: usize = 18;
type Lane = DualN<f64, LANES>;

fn lifted(v: Vec3<f64>) -> Vec3<Lane> {
    Vec3::new(Lane::constant(v.x), Lane::constant(v.y), Lane::constant(v.z))
}

/// A vector that is moved along the three lanes from `first`.
fn shifted(v: Vec3<f64>, first: usize) -> Vec3<Lane> {
    let mut out = lifted(v);
    (out.x.tangent[first], out.y.tangent[first + 1], out.z.tangent[first + 2]) = (1.0, 1.0, 1.0);
    out
}

/// A vector that is turned about the axes of the three lanes from `first`.
fn turned(v: Vec3<f64>, first: usize) -> Vec3<Lane> {
    let mut out = lifted(v);
    (out.x.tangent[first + 1], out.x.tangent[first + 2]) = (v.z, -v.y);
    (out.y.tangent[first + 2], out.y.tangent[first]) = (v.x, -v.z);
    (out.z.tangent[first], out.z.tangent[first + 1]) = (v.y, -v.x);
    out
}

/// A geom whose turn, displacement and sizes are the nine lanes from `first`.
fn moving(shape: &Shape<f64>, first: usize) -> Shape<Lane> {
    let [x, y, z] = shape.axes.columns.map(|axis| turned(axis, first));
    Shape {
        position: shifted(shape.position, first + 3),
        axes: Mat3::from_columns(x, y, z),
        size: shifted(shape.size, first + 6),
    }
}

/// From the geometry of two geoms' contacts to the places and sizes of the geoms.
fn pull_geometry(
    at: RowInputs<f64>,
    contact: &Contact,
    all: &[(usize, GeometryBar)],
    bar: &mut RowAdjoints,
) {
    let (layout, k) = (at.layout, &at.dynamics.kinematics);
    let geoms = contact.candidate.geoms;
    let shapes = geoms.map(|g| shape(at, g));
    let reach = reach(at, contact.candidate);
    let mut found = Vec::with_capacity(4);
    let (a, b) = (moving(&shapes[0], 0), moving(&shapes[1], 9));
    let [first, second] = [(0, &a), (1, &b)].map(|(n, s)| surface(at.tree, geoms[n], s));
    collision::collide(&first, &second, Lane::constant(reach), &mut found);
    let mut total = [0.0; LANES];
    // Lanes are many numbers: they are read in place.
    let mut add = |x: &Lane, factor: f64| {
        for (sum, tangent) in total.iter_mut().zip(&x.tangent) {
            *sum += factor * tangent;
        }
    };
    for (index, by) in all {
        let Some(touch) = found.get(*index) else { continue };
        let [first, second] = touch.tangents();
        add(&touch.distance, by.distance);
        for (vector, by) in [
            (&touch.position, by.position),
            (&touch.normal, by.axes[0]),
            (&first, by.axes[1]),
            (&second, by.axes[2]),
        ] {
            add(&vector.x, by.x);
            add(&vector.y, by.y);
            add(&vector.z, by.z);
        }
    }
    for (n, g) in geoms.into_iter().enumerate() {
        let lanes = &total[9 * n..9 * n + 9];
        let body = at.tree.geoms[g].body;
        let turn = Vec3::new(lanes[0], lanes[1], lanes[2]);
        let force = Vec3::new(lanes[3], lanes[4], lanes[5]);
        let center = shapes[n].position - k.origin[body];
        bar.bodies[body].place += Force::at_point(force, center) + Force::new(turn, Vec3::zero());
        let frame = k.xmat[body];
        let local = frame.apply_transposed(force).to_array();
        for i in 0..3 {
            bar.c[layout.geom_pos.at(g) + i] += local[i];
            bar.c[layout.geom_size.at(g) + i] += lanes[6 + i];
        }
        pull_orientation(at, layout.geom_quat, g, frame.apply_transposed(turn), bar);
    }
}

/// From the contact's parameters to those of its geoms or its pair. A coefficient at its floor has no
/// influence.
fn pull_parameters(
    at: RowInputs<f64>,
    contact: &Contact,
    by: &ParameterBar,
    bar: &mut RowAdjoints,
) {
    let (layout, c) = (at.layout, at.c);
    let [a, b] = contact.candidate.geoms;
    let p = &contact.parameters;
    let add = |bar: &mut RowAdjoints, block: Block, i: usize, values: &[f64], factor: f64| {
        for (n, x) in values.iter().enumerate() {
            bar.c[block.at(i) + n] += factor * x;
        }
    };
    // The number a coefficient comes from, or nothing at the floor.
    let reaches = |at: usize, value: f64| c[at] == value;
    if let Pairing::Explicit(pair) = contact.candidate.pairing {
        let friction = layout.pair_friction.at(pair);
        for n in 0..5 {
            if reaches(friction + n, p.friction[n]) {
                bar.c[friction + n] += by.friction[n];
            }
        }
        bar.c[layout.pair_margin.at(pair)] += by.margin;
        add(bar, layout.pair_solref, pair, &by.solref, 1.0);
        add(bar, layout.pair_solimp, pair, &by.solimp, 1.0);
        add(bar, layout.pair_solreffriction, pair, &by.friction_solref, 1.0);
        return;
    }
    for g in [a, b] {
        bar.c[layout.geom_margin.at(g)] += by.margin;
    }
    let three = [by.friction[0] + by.friction[1], by.friction[2], by.friction[3] + by.friction[4]];
    let sources = match prior(at, [a, b]) {
        Some(g) => [g, g],
        None => [a, b],
    };
    for (n, bar_n) in three.into_iter().enumerate() {
        let value = [p.friction[0], p.friction[2], p.friction[3]][n];
        // Two equal coefficients have half the influence each.
        let places = sources.map(|g| layout.geom_friction.at(g) + n);
        let count = places.into_iter().filter(|place| reaches(*place, value)).count();
        for place in places.into_iter().filter(|place| reaches(*place, value)) {
            bar.c[place] += bar_n / count as f64;
        }
    }
    if let Some(g) = prior(at, [a, b]) {
        add(bar, layout.geom_solref, g, &by.solref, 1.0);
        add(bar, layout.geom_solimp, g, &by.solimp, 1.0);
        return;
    }
    pull_mix(at, [a, b], by, bar);
}

/// The mixing of two geoms' references and impedances.
fn pull_mix(at: RowInputs<f64>, [a, b]: [usize; 2], by: &ParameterBar, bar: &mut RowAdjoints) {
    let (layout, c) = (at.layout, at.c);
    let of = |g: usize| at.parameters(layout.geom_solref, layout.geom_solimp, g);
    let (first, second) = (of(a), of(b));
    let places = [layout.geom_solmix.at(a), layout.geom_solmix.at(b)];
    type D = DualN<f64, 2>;
    let weight = mix_weight(D::variable(c[places[0]], 0), D::variable(c[places[1]], 1));
    let w = weight.value;
    let mut by_weight = 0.0;
    for n in 0..5 {
        bar.c[layout.geom_solimp.at(a) + n] += w * by.solimp[n];
        bar.c[layout.geom_solimp.at(b) + n] += (1.0 - w) * by.solimp[n];
        by_weight += by.solimp[n] * (first.solimp[n] - second.solimp[n]);
    }
    for n in 0..2 {
        let at = [layout.geom_solref.at(a) + n, layout.geom_solref.at(b) + n];
        if is_averaged(&first, &second) {
            bar.c[at[0]] += w * by.solref[n];
            bar.c[at[1]] += (1.0 - w) * by.solref[n];
            by_weight += by.solref[n] * (first.solref[n] - second.solref[n]);
        } else {
            bar.c[at[usize::from(first.solref[n] > second.solref[n])]] += by.solref[n];
        }
    }
    for n in 0..2 {
        bar.c[places[n]] += by_weight * weight.tangent[n];
    }
}
