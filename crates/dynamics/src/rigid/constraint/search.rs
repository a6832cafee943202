//! Which contacts a state has: geoms that are near enough, and how far that is.

use costate_num::Scalar;

use super::build::{Constraints, RowInputs};
use super::contact::{Contact, parameters};
use crate::rigid::collision::{self, Bound, Candidate, Pairing, Real, Shape, Surface};
use crate::rigid::kinematics::vec3;
use crate::rigid::tree::Tree;

/// How many of its widths a relaxed contact reaches.
const WIDTHS: f64 = 100.0;

/// How far beyond their margin contacts act: nothing where they are not relaxed.
fn beyond(tree: &Tree) -> f64 {
    WIDTHS * tree.options.relaxation
}

/// The width, m, over which a contact at `position` (distance less margin) is relaxed. It ends smoothly at the
/// contact's reach.
pub(super) fn relaxation<S: Scalar>(tree: &Tree, position: S) -> S {
    let width = tree.options.relaxation;
    if width == 0.0 {
        return S::zero();
    }
    let x = position.max(S::zero()).scale(1.0 / beyond(tree)).min(S::one());
    let rest = S::one() - x * x;
    (rest * rest).scale(width)
}

/// The distance within which contacts of a candidate are looked for.
pub(super) fn reach<S: Scalar>(at: RowInputs<S>, candidate: Candidate) -> S {
    let (layout, c) = (at.layout, at.c);
    let own = match candidate.pairing {
        Pairing::Explicit(p) => c[layout.pair_margin.at(p)] + c[layout.pair_gap.at(p)],
        Pairing::Geoms => {
            let of = |g: usize| c[layout.geom_margin.at(g)] + c[layout.geom_gap.at(g)];
            of(candidate.geoms[0]) + of(candidate.geoms[1])
        }
    };
    own + S::splat(beyond(at.tree))
}

/// A geom in the world.
pub(super) fn shape<S: Scalar>(at: RowInputs<S>, g: usize) -> Shape<S> {
    let pose = at.dynamics.kinematics.geom(at.tree, at.layout, at.c, g);
    Shape {
        position: pose.position,
        axes: pose.orientation.to_matrix(),
        size: vec3(at.c, at.layout.geom_size, g),
    }
}

/// A geom as collision sees it.
pub(super) fn surface<'a, S: Real>(
    tree: &'a Tree,
    g: usize,
    shape: &'a Shape<S>,
) -> Surface<'a, S> {
    let geom = &tree.geoms[g];
    Surface::new(geom.kind, shape).with(geom.hull.as_deref(), geom.field.as_deref())
}

/// Finds the contacts of a state that act.
pub(super) fn find<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>) {
    out.contacts.clear();
    out.shapes.clear();
    out.shapes.extend((0..at.tree.geoms.len()).map(|g| shape(at, g)));
    out.bounds.clear();
    out.bounds.extend(out.shapes.iter().enumerate().map(|(g, shape)| bound(at, g, shape)));
    match &mut out.sweep {
        None => {
            for n in 0..out.candidates.len() {
                let [a, b] = out.candidates[n].geoms;
                if !out.bounds[a].is_apart(&out.bounds[b]) {
                    add_touches(out, at, n);
                }
            }
        }
        Some(sweep) => {
            let near = sweep.run(&out.bounds).len();
            for k in 0..near {
                let n = out.sweep.as_ref().map_or(0, |sweep| sweep.found()[k] as usize);
                add_touches(out, at, n);
            }
        }
    }
}

/// A sphere that holds a geom, with the largest distance at which it may touch others.
fn bound<S: Real>(at: RowInputs<S>, g: usize, shape: &Shape<S>) -> Bound {
    let (layout, c) = (at.layout, at.c);
    let mut reach = (c[layout.geom_margin.at(g)] + c[layout.geom_gap.at(g)]).value();
    for (p, pair) in at.tree.pairs.iter().enumerate() {
        if pair.geoms.contains(&g) {
            reach = reach.max((c[layout.pair_margin.at(p)] + c[layout.pair_gap.at(p)]).value());
        }
    }
    let radius = collision::bounding_radius(&surface(at.tree, g, shape));
    reach += beyond(at.tree);
    Bound {
        center: shape.position.to_array().map(Real::value),
        radius: radius.map_or(f64::INFINITY, |radius| radius.value() + reach.max(0.0)),
    }
}

/// Adds the contacts of a candidate that act.
fn add_touches<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>, n: usize) {
    let candidate = out.candidates[n];
    let [a, b] = candidate.geoms;
    let [first, second] = [a, b].map(|g| surface(at.tree, g, &out.shapes[g]));
    let reach = reach(at, candidate);
    if collision::is_apart(&first, &second, reach) {
        return;
    }
    out.touches.clear();
    collision::collide(&first, &second, reach, &mut out.touches);
    if out.touches.is_empty() {
        return;
    }
    let parameters = parameters(at, candidate);
    for (index, &touch) in out.touches.iter().enumerate() {
        if touch.distance.lt(parameters.margin + S::splat(beyond(at.tree))) {
            let tangents = touch.tangents();
            out.contacts.push(Contact { candidate, index, touch, tangents, parameters });
        }
    }
}
