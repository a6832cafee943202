//! Sensors of contacts: which contacts they see, and what they measure of them.
//!
//! Values are those of MuJoCo's `contact` sensor (XML reference, *sensor/contact*); contacts that wait in the
//! gap beyond their margin are not seen. Which contacts are seen, and in which order, has no derivative:
//! it is held.

use costate_model::rigid::{ContactField, ContactReduction, ContactSensor, ContactSide};
use costate_num::{Dual, Scalar, Vec3};

use super::constants::Layout;
use super::constraint::{ConstraintStage, Contact, Source, TouchBar};
use super::forward::Dynamics;
use super::touch::holds;
use super::tree::Tree;

/// What a sensor may measure of a contact: position, axes (normal, tangents), distance, and force and torque in
/// these axes.
#[derive(Clone, Copy, Debug)]
struct Seen<S> {
    position: Vec3<S>,
    axes: [Vec3<S>; 3],
    distance: S,
    wrench: [S; 6],
    /// Whether its first geom is of the sensor's second side: it is seen from there.
    turned: bool,
}

/// How many numbers a [`Seen`] has.
const NUMBERS: usize = 19;

impl<S: Scalar> Seen<S> {
    fn numbers(&self) -> [S; NUMBERS] {
        let mut out = [S::zero(); NUMBERS];
        out[..3].copy_from_slice(&self.position.to_array());
        for (k, axis) in self.axes.iter().enumerate() {
            out[3 + 3 * k..6 + 3 * k].copy_from_slice(&axis.to_array());
        }
        out[12] = self.distance;
        out[13..].copy_from_slice(&self.wrench);
        out
    }

    fn from_numbers(x: [S; NUMBERS], turned: bool) -> Self {
        let vector = |at: usize| Vec3::new(x[at], x[at + 1], x[at + 2]);
        Self {
            position: vector(0),
            axes: [vector(3), vector(6), vector(9)],
            distance: x[12],
            wrench: std::array::from_fn(|k| x[13 + k]),
            turned,
        }
    }

    fn sign(&self) -> S {
        S::splat(if self.turned { -1.0 } else { 1.0 })
    }

    /// Force (`first` 0) or torque (3) in the world's axes, on the sensor's second side.
    fn in_world(&self, first: usize) -> Vec3<S> {
        let mut sum = Vec3::zero();
        for (k, axis) in self.axes.iter().enumerate() {
            sum += *axis * self.wrench[first + k];
        }
        sum * self.sign()
    }

    /// Size of the force.
    fn strength(&self) -> S {
        let [x, y, z, ..] = self.wrench;
        let squared = x * x + y * y + z * z;
        // Without a force it has no direction, and its weight no derivative.
        let none = squared.equals(S::zero());
        S::select(none, S::zero(), S::select(none, S::one(), squared).sqrt())
    }
}

/// Force and torque of a contact in its own axes from the forces of its rows.
fn wrench<S: Scalar>(contact: &Contact<S>, elliptic: bool, rows: &[S]) -> [S; 6] {
    let mut out = [S::zero(); 6];
    let dim = contact.parameters.dim;
    if dim == 1 || elliptic {
        out[..rows.len()].copy_from_slice(rows);
        return out;
    }
    for k in 0..dim - 1 {
        let (up, down) = (rows[2 * k], rows[2 * k + 1]);
        out[0] += up + down;
        out[k + 1] = (up - down) * contact.parameters.friction[k];
    }
    out
}

/// A place of a contact among the items of the constraints, and whether it is seen from its second geom.
type Choice = (usize, bool);

/// A sensor with where it is.
#[derive(Clone, Copy)]
pub(crate) struct ContactView<'a> {
    pub tree: &'a Tree,
    pub layout: &'a Layout,
    pub c: &'a [f64],
    pub dynamics: &'a Dynamics<f64>,
    pub stage: &'a ConstraintStage,
    pub sensor: ContactSensor,
}

impl ContactView<'_> {
    /// The contacts that it sees, all of them, in its order.
    fn choose(self) -> Vec<Choice> {
        let constraints = &self.stage.constraints;
        let mut found: Vec<(f64, Choice)> = Vec::new();
        for (n, item) in constraints.items.iter().enumerate() {
            let Source::Contact(i) = item.source else { continue };
            let contact = &constraints.contacts[i];
            let Some(turned) = self.sees(contact) else { continue };
            let key = match self.sensor.reduction {
                ContactReduction::None | ContactReduction::Net => 0.0,
                ContactReduction::Deepest => contact.touch.distance,
                ContactReduction::Strongest => -self.seen(n, turned).strength(),
            };
            found.push((key, (n, turned)));
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.into_iter().map(|(_, choice)| choice).collect()
    }

    /// Whether it sees a contact, and if so whether from its second geom.
    fn sees(self, contact: &Contact) -> Option<bool> {
        let tree = self.tree;
        if let Some(site) = self.sensor.site
            && !holds(tree, self.layout, self.c, self.dynamics, site, contact.touch.position)
        {
            return None;
        }
        let of = |side: Option<ContactSide>, g: usize| match side {
            None => true,
            Some(ContactSide::Geom(geom)) => geom == g,
            Some(ContactSide::Body(body)) => body == tree.geoms[g].body,
            Some(ContactSide::Subtree(root)) => tree.is_above(root, tree.geoms[g].body),
        };
        let [a, b] = contact.candidate.geoms;
        let ContactSensor { first, second, .. } = self.sensor;
        if of(first, a) && of(second, b) {
            Some(false)
        } else {
            (of(first, b) && of(second, a)).then_some(true)
        }
    }

    fn seen(self, item: usize, turned: bool) -> Seen<f64> {
        let constraints = &self.stage.constraints;
        let item = constraints.items[item];
        let contact = match item.source {
            Source::Contact(i) => &constraints.contacts[i],
            _ => &constraints.contacts[0],
        };
        let rows = &self.stage.solver.force[item.row..item.row + item.count];
        let wrench = wrench(contact, self.tree.options.elliptic, rows);
        of_contact(contact, wrench, turned)
    }

    /// What it measures, into `out`.
    pub fn measure(self, out: &mut [f64]) {
        let all = self.choose();
        let seen: Vec<Seen<f64>> = all.iter().map(|&(n, turned)| self.seen(n, turned)).collect();
        write(&self.sensor, &seen, out);
    }

    /// What it measures on duals: of contacts on duals, with forces of rows on duals.
    pub fn measure_on<S: Scalar>(
        self,
        contacts: &[Contact<S>],
        force: impl Fn(usize) -> S,
        out: &mut [S],
    ) {
        let mut seen = Vec::new();
        for (n, turned) in self.choose() {
            let item = self.stage.constraints.items[n];
            let Source::Contact(i) = item.source else { continue };
            let rows: Vec<S> = (item.row..item.row + item.count).map(&force).collect();
            let wrench = wrench(&contacts[i], self.tree.options.elliptic, &rows);
            seen.push(of_contact(&contacts[i], wrench, turned));
        }
        write(&self.sensor, &seen, out);
    }

    /// Adjoints of what it measures: by the forces of rows, added, and by contacts.
    pub fn pull(self, y_bar: &[f64], by_row: &mut [f64], by_contact: &mut Vec<TouchBar>) {
        let all = self.choose();
        let values: Vec<Seen<f64>> = all.iter().map(|&(n, turned)| self.seen(n, turned)).collect();
        let mut duals: Vec<Seen<Dual<f64>>> = values
            .iter()
            .map(|seen| Seen::from_numbers(seen.numbers().map(Dual::constant), seen.turned))
            .collect();
        let mut y = vec![Dual::constant(0.0); y_bar.len()];
        // Of a sum all contacts count, else those that there is room for.
        let net = self.sensor.reduction == ContactReduction::Net;
        let count = if net { all.len() } else { self.sensor.count };
        for (k, &(n, _)) in all.iter().enumerate().take(count) {
            let mut bar = [0.0; NUMBERS];
            for (i, bar) in bar.iter_mut().enumerate() {
                let mut numbers = values[k].numbers().map(Dual::constant);
                numbers[i].tangent[0] = 1.0;
                duals[k] = Seen::from_numbers(numbers, values[k].turned);
                write(&self.sensor, &duals, &mut y);
                *bar = y.iter().zip(y_bar).map(|(y, bar)| y.tangent[0] * bar).sum();
            }
            duals[k] =
                Seen::from_numbers(values[k].numbers().map(Dual::constant), values[k].turned);
            self.pull_contact(n, bar, by_row, by_contact);
        }
    }

    fn pull_contact(
        self,
        n: usize,
        bar: [f64; NUMBERS],
        by_row: &mut [f64],
        by_contact: &mut Vec<TouchBar>,
    ) {
        let constraints = &self.stage.constraints;
        let item = constraints.items[n];
        let Source::Contact(i) = item.source else { return };
        let contact = &constraints.contacts[i];
        let Seen { position, axes, distance, wrench, .. } = Seen::from_numbers(bar, false);
        let mut friction = [0.0; 5];
        let dim = contact.parameters.dim;
        if dim == 1 || self.tree.options.elliptic {
            for (slot, bar) in by_row[item.row..item.row + item.count].iter_mut().zip(wrench) {
                *slot += bar;
            }
        } else {
            for k in 0..dim - 1 {
                let (up, down) = (item.row + 2 * k, item.row + 2 * k + 1);
                let force = &self.stage.solver.force;
                let mu = contact.parameters.friction[k];
                by_row[up] += wrench[0] + mu * wrench[k + 1];
                by_row[down] += wrench[0] - mu * wrench[k + 1];
                friction[k] = (force[up] - force[down]) * wrench[k + 1];
            }
        }
        by_contact.push(TouchBar { contact: i, position, axes, distance, margin: 0.0, friction });
    }
}

fn of_contact<S: Scalar>(contact: &Contact<S>, wrench: [S; 6], turned: bool) -> Seen<S> {
    let [first, second] = contact.tangents;
    Seen {
        position: contact.touch.position,
        axes: [contact.touch.normal, first, second],
        distance: contact.touch.distance,
        wrench,
        turned,
    }
}

/// The one contact that stands for all: in the world's axes.
fn net<S: Scalar>(all: &[Seen<S>]) -> Seen<S> {
    let (mut force, mut center, mut total) = (Vec3::zero(), Vec3::zero(), S::zero());
    for seen in all {
        let weight = seen.strength();
        force += seen.in_world(0);
        center += seen.position * weight;
        total += weight;
    }
    let center = center * total.max(S::splat(1e-15)).recip();
    let mut torque = Vec3::zero();
    for seen in all {
        torque += seen.in_world(3) + (seen.position - center).cross(seen.in_world(0));
    }
    let unit = |v: [f64; 3]| Vec3::splat(v);
    let ([fx, fy, fz], [tx, ty, tz]) = (force.to_array(), torque.to_array());
    Seen {
        position: center,
        axes: [unit([1.0, 0.0, 0.0]), unit([0.0, 1.0, 0.0]), unit([0.0, 0.0, 1.0])],
        distance: S::zero(),
        wrench: [fx, fy, fz, tx, ty, tz],
        turned: false,
    }
}

/// The fields of the contacts, one after the other; zero where there are none.
fn write<S: Scalar>(sensor: &ContactSensor, all: &[Seen<S>], out: &mut [S]) {
    out.fill(S::zero());
    let found = S::splat(all.len() as f64);
    let one;
    let shown = match sensor.reduction {
        ContactReduction::Net if !all.is_empty() => {
            one = [net(all)];
            &one[..]
        }
        _ => &all[..all.len().min(sensor.count)],
    };
    for (seen, out) in shown.iter().zip(out.chunks_exact_mut(sensor.width())) {
        let sign = seen.sign();
        let of = |first: usize| {
            let [x, y, z] = [0, 1, 2].map(|k| seen.wrench[first + k]);
            [x, y, z * sign]
        };
        let mut at = 0;
        for field in sensor.fields() {
            let values = match field {
                ContactField::Found => [found, S::zero(), S::zero()],
                ContactField::Force => of(0),
                ContactField::Torque => of(3),
                ContactField::Distance => [seen.distance, S::zero(), S::zero()],
                ContactField::Position => seen.position.to_array(),
                ContactField::Normal => (seen.axes[0] * sign).to_array(),
                ContactField::Tangent => (seen.axes[1] * sign).to_array(),
            };
            out[at..at + field.count()].copy_from_slice(&values[..field.count()]);
            at += field.count();
        }
    }
}
