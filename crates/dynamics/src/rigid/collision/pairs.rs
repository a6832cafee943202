//! Which geoms may touch: MuJoCo's selection by bits, bodies, exclusions and explicit pairs.

use thiserror::Error;

use super::is_supported;
use crate::rigid::tree::{GeomKind, Tree};

/// What says how two geoms touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// The parameters of the geoms, mixed.
    Geoms,
    /// An explicit pair.
    Explicit(usize),
}

/// Two geoms that may touch, in the order of their kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The geoms.
    pub geoms: [usize; 2],
    /// What says how they touch.
    pub pairing: Pairing,
}

/// Two geoms that may touch but whose contact is not simulated.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("contacts between a {first:?} (geom {}) and a {second:?} (geom {}) are not simulated", geoms[0], geoms[1])]
pub struct UnsupportedContact {
    /// The geoms.
    pub geoms: [usize; 2],
    /// Kind of the first.
    pub first: GeomKind,
    /// Kind of the second.
    pub second: GeomKind,
}

/// The candidates of a structure, by bodies, those that are not simulated left out
/// ([`unsupported`] names them).
pub fn candidates(tree: &Tree) -> Vec<Candidate> {
    let mut all = selected(tree);
    all.retain(|candidate| is_simulated(tree, candidate.geoms));
    all
}

/// The pairs of geoms that may touch and are not simulated.
pub fn unsupported(tree: &Tree) -> Vec<UnsupportedContact> {
    let all = selected(tree).into_iter();
    all.filter_map(|candidate| {
        let [first, second] = kinds(tree, candidate.geoms);
        let without_contacts = !is_supported([first, second]);
        let known = without_contacts || is_simulated(tree, candidate.geoms);
        (!known).then_some(UnsupportedContact { geoms: candidate.geoms, first, second })
    })
    .collect()
}

/// Whether contacts of two geoms are simulated: those of a mesh that has no volume are not. Planes and height
/// fields do not touch each other.
fn is_simulated(tree: &Tree, geoms: [usize; 2]) -> bool {
    let has_shape = |g: usize| match tree.geoms[g].kind {
        GeomKind::Mesh => tree.geoms[g].hull.is_some(),
        GeomKind::HeightField => tree.geoms[g].field.is_some(),
        _ => true,
    };
    is_supported(kinds(tree, geoms)) && geoms.into_iter().all(has_shape)
}

/// Kinds of two geoms.
pub(super) fn kinds(tree: &Tree, geoms: [usize; 2]) -> [GeomKind; 2] {
    geoms.map(|g| tree.geoms[g].kind)
}

/// In the order of kinds; on a tie as given.
fn ordered(tree: &Tree, geoms: [usize; 2]) -> [usize; 2] {
    let [a, b] = kinds(tree, geoms);
    if a as usize > b as usize { [geoms[1], geoms[0]] } else { geoms }
}

fn selected(tree: &Tree) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (p, pair) in tree.pairs.iter().enumerate() {
        let geoms = ordered(tree, pair.geoms);
        found.push(Candidate { geoms, pairing: Pairing::Explicit(p) });
    }
    let explicit = |a: usize, b: usize| {
        tree.pairs.iter().any(|pair| pair.geoms == [a, b] || pair.geoms == [b, a])
    };
    for a in 0..tree.geoms.len() {
        for b in a + 1..tree.geoms.len() {
            if may_touch(tree, a, b) && !explicit(a, b) {
                let geoms = ordered(tree, [a, b]);
                found.push(Candidate { geoms, pairing: Pairing::Geoms });
            }
        }
    }
    found.sort_by_key(|candidate| {
        let [a, b] = candidate.geoms.map(|g| tree.geoms[g].body);
        let [i, j] = candidate.geoms;
        (a.min(b), a.max(b), i.min(j), i.max(j))
    });
    found
}

fn may_touch(tree: &Tree, a: usize, b: usize) -> bool {
    let (first, second) = (&tree.geoms[a], &tree.geoms[b]);
    let bits = first.contype & second.conaffinity != 0 || second.contype & first.conaffinity != 0;
    if !bits {
        return false;
    }
    let (i, j) = (first.body, second.body);
    let excluded = |pair: &[usize; 2]| *pair == [i, j] || *pair == [j, i];
    if tree.excludes.iter().any(excluded) {
        return false;
    }
    let (i, j) = (tree.bodies[i].weld, tree.bodies[j].weld);
    if i == j {
        return false;
    }
    // A body and the one that it hangs on, unless that is the world.
    let above = |body: usize| tree.bodies[tree.bodies[body].parent].weld;
    !(i != 0 && j != 0 && (above(i) == j || above(j) == i))
}
