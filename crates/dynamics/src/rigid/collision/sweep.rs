//! Which candidates may touch at a state: those whose bounding spheres overlap along the axis on which the
//! geoms are spread most, by a sweep over the sorted ends (Baraff 1992).

use super::pairs::Candidate;

/// Fewer candidates than this are looked at one by one.
const FEW: usize = 200;

/// A sphere that holds a geom, with what its contacts reach beyond it.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Its centre, m.
    pub center: [f64; 3],
    /// Its radius with the geom's reach, m; infinite for planes and height fields.
    pub radius: f64,
}

impl Bound {
    /// Whether two spheres do not meet.
    #[inline]
    pub fn is_apart(&self, other: &Self) -> bool {
        let reach = self.radius + other.radius;
        let mut squared = 0.0;
        for k in 0..3 {
            let d = other.center[k] - self.center[k];
            squared += d * d;
        }
        squared > reach * reach
    }
}

/// The memory of a sweep.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// Of geom g, from `starts[g]`: the other geom, which has a higher number, and the candidate.
    partners: Vec<[u32; 2]>,
    starts: Vec<u32>,
    /// Geoms by their lower ends; nearly sorted from one state to the next.
    order: Vec<u32>,
    ends: Vec<[f64; 2]>,
    active: Vec<u32>,
    found: Vec<u32>,
}

impl Sweep {
    /// That of some candidates among geoms; none where there are few.
    pub fn new(geoms: usize, candidates: &[Candidate]) -> Option<Self> {
        if candidates.len() < FEW {
            return None;
        }
        let mut all: Vec<[u32; 3]> = Vec::with_capacity(candidates.len());
        for (n, candidate) in candidates.iter().enumerate() {
            let [a, b] = candidate.geoms;
            all.push([a.min(b) as u32, a.max(b) as u32, n as u32]);
        }
        all.sort_unstable();
        let mut starts = vec![0; geoms + 1];
        for [first, ..] in &all {
            starts[*first as usize + 1] += 1;
        }
        for g in 0..geoms {
            starts[g + 1] += starts[g];
        }
        let partners = all.into_iter().map(|[_, other, n]| [other, n]).collect();
        let order = (0..geoms as u32).collect();
        Some(Self { partners, starts, order, ..Self::default() })
    }

    /// The candidates that may touch, in their order.
    pub fn run(&mut self, bounds: &[Bound]) -> &[u32] {
        let axis = widest(bounds);
        self.ends.clear();
        self.ends
            .extend(bounds.iter().map(|b| [b.center[axis] - b.radius, b.center[axis] + b.radius]));
        let (order, ends) = (&mut self.order, &self.ends);
        for n in 1..order.len() {
            let (mut k, moved) = (n, order[n]);
            while k > 0 && ends[order[k - 1] as usize][0] > ends[moved as usize][0] {
                order[k] = order[k - 1];
                k -= 1;
            }
            order[k] = moved;
        }
        self.found.clear();
        self.active.clear();
        for &g in order.iter() {
            let low = ends[g as usize][0];
            let mut kept = 0;
            for k in 0..self.active.len() {
                let other = self.active[k];
                if ends[other as usize][1] < low {
                    continue;
                }
                self.active[kept] = other;
                kept += 1;
                let [a, b] = [bounds[g as usize], bounds[other as usize]];
                if !overlap(&a, &b) {
                    continue;
                }
                let (first, second) = (g.min(other), g.max(other));
                let range =
                    self.starts[first as usize] as usize..self.starts[first as usize + 1] as usize;
                let partners = &self.partners[range];
                let mut at = partners.partition_point(|[partner, _]| *partner < second);
                while at < partners.len() && partners[at][0] == second {
                    self.found.push(partners[at][1]);
                    at += 1;
                }
            }
            self.active.truncate(kept);
            self.active.push(g);
        }
        self.found.sort_unstable();
        &self.found
    }

    /// What the last run found.
    pub fn found(&self) -> &[u32] {
        &self.found
    }
}

fn overlap(a: &Bound, b: &Bound) -> bool {
    let reach = a.radius + b.radius;
    (0..3).all(|k| (a.center[k] - b.center[k]).abs() <= reach)
}

/// The axis along which centres vary most.
fn widest(bounds: &[Bound]) -> usize {
    let (mut sum, mut squares, mut count) = ([0.0; 3], [0.0; 3], 0.0);
    for bound in bounds.iter().filter(|b| b.radius.is_finite()) {
        count += 1.0;
        for k in 0..3 {
            sum[k] += bound.center[k];
            squares[k] += bound.center[k] * bound.center[k];
        }
    }
    let variance = [0, 1, 2].map(|k| squares[k] * count - sum[k] * sum[k]);
    let mut best = 0;
    for k in 1..3 {
        if variance[k] > variance[best] {
            best = k;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rigid::collision::Pairing;

    #[test]
    fn it_finds_what_overlaps_in_the_order_of_the_candidates() {
        let count = 60;
        let candidate = |a: usize, b: usize| Candidate { geoms: [a, b], pairing: Pairing::Geoms };
        let mut candidates = Vec::new();
        for a in 0..count {
            // Some do not touch each other, some come with the higher number first.
            candidates.extend(
                (a + 1..count)
                    .filter(|b| (a + b) % 7 != 0)
                    .map(|b| if (a * b) % 3 == 0 { candidate(b, a) } else { candidate(a, b) }),
            );
        }
        let mut sweep = Sweep::new(count, &candidates).unwrap();
        for time in 0..20 {
            let bounds: Vec<Bound> = (0..count)
                .map(|g| {
                    let at = |k: usize| ((g * 3 + k) as f64 * 0.37 + 0.01 * f64::from(time)).sin();
                    let radius = if g == 17 { f64::INFINITY } else { 0.05 + 0.003 * g as f64 };
                    Bound { center: [at(0), 2.0 * at(1), at(2)], radius }
                })
                .collect();
            let all = candidates.iter().enumerate();
            let expected: Vec<u32> = all
                .filter(|(_, c)| overlap(&bounds[c.geoms[0]], &bounds[c.geoms[1]]))
                .map(|(n, _)| n as u32)
                .collect();
            assert_eq!(sweep.run(&bounds), expected, "{time}");
        }
    }
}
