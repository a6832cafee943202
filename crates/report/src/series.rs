//! Samples to polylines: gaps, thinning and clipping.

/// Above this many samples a curve is thinned.
pub(crate) const MOST: usize = 2000;

/// Bins that a thinned curve is made of; each keeps its least and its greatest value.
const BINS: usize = 500;

/// Values beyond this are treated like infinite ones: ranges must not overflow.
const FARTHEST: f64 = 1e290;

/// Whether a value can be plotted.
pub(crate) fn plottable(v: f64) -> bool {
    v.abs() < FARTHEST
}

/// Pieces of a curve between gaps (values that cannot be plotted), thinned.
pub(crate) fn pieces(t: &[f64], y: &[f64]) -> Vec<Vec<[f64; 2]>> {
    let mut out = vec![Vec::new()];
    for (t, y) in t.iter().zip(y) {
        if plottable(*t) && plottable(*y) {
            if let Some(piece) = out.last_mut() {
                piece.push([*t, *y]);
            }
        } else if out.last().is_some_and(|p| !p.is_empty()) {
            out.push(Vec::new());
        }
    }
    out.retain(|p| !p.is_empty());
    let total: usize = out.iter().map(Vec::len).sum();
    if total > MOST {
        let per_bin = total.div_ceil(BINS);
        out = out.iter().map(|p| thin(p, per_bin)).collect();
    }
    out
}

/// Keeps the first, least, greatest and last of each run of `per_bin` points, in order of time.
fn thin(piece: &[[f64; 2]], per_bin: usize) -> Vec<[f64; 2]> {
    let mut out: Vec<[f64; 2]> = Vec::new();
    for bin in piece.chunks(per_bin) {
        let by_value = |a: &&usize, b: &&usize| bin[**a][1].total_cmp(&bin[**b][1]);
        let all: Vec<usize> = (0..bin.len()).collect();
        let mut keep = vec![0];
        keep.extend(all.iter().min_by(by_value));
        keep.extend(all.iter().max_by(by_value));
        keep.sort_unstable();
        keep.dedup();
        out.extend(keep.into_iter().map(|i| bin[i]));
    }
    if let Some(last) = piece.last()
        && out.last() != Some(last)
    {
        out.push(*last);
    }
    out
}

/// The parts of a polyline with `low` ≤ y ≤ `high`, cut at the bounds.
pub(crate) fn clip(piece: &[[f64; 2]], low: f64, high: f64) -> Vec<Vec<[f64; 2]>> {
    let mut out: Vec<Vec<[f64; 2]>> = Vec::new();
    let mut open = false;
    let mut push = |p: [f64; 2], open: &mut bool| {
        if !*open {
            out.push(Vec::new());
            *open = true;
        }
        if let Some(part) = out.last_mut()
            && part.last() != Some(&p)
        {
            part.push(p);
        }
    };
    if let [only] = piece
        && (low..=high).contains(&only[1])
    {
        push(*only, &mut open);
    }
    for pair in piece.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        let d = b[1] - a[1];
        // The part of the segment within the bounds, as shares of its length.
        let (mut from, mut to) = (0.0f64, 1.0f64);
        if d == 0.0 {
            if !(low..=high).contains(&a[1]) {
                (from, to) = (1.0, 0.0);
            }
        } else {
            let (s, e) = ((low - a[1]) / d, (high - a[1]) / d);
            from = from.max(s.min(e));
            to = to.min(s.max(e));
        }
        if from > to {
            open = false;
            continue;
        }
        let at = |s: f64| {
            if s == 0.0 {
                a
            } else if s == 1.0 {
                b
            } else {
                [a[0] + (b[0] - a[0]) * s, (a[1] + d * s).clamp(low, high)]
            }
        };
        if from > 0.0 {
            open = false;
        }
        push(at(from), &mut open);
        push(at(to), &mut open);
        if to < 1.0 {
            open = false;
        }
    }
    out
}

/// Least and greatest value that can be plotted.
pub(crate) fn extent(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let mut range: Option<[f64; 2]> = None;
    for v in values.into_iter().filter(|v| plottable(*v)) {
        let r = range.get_or_insert([v, v]);
        *r = [r[0].min(v), r[1].max(v)];
    }
    range
}

/// A range with room at both ends, and some width even where all values are the same.
pub(crate) fn padded([low, high]: [f64; 2], share: f64) -> [f64; 2] {
    let width = high - low;
    let least = 1e-6 * low.abs().max(high.abs());
    let room = if width > least {
        share * width
    } else if least > 0.0 {
        10.0 * least
    } else {
        1.0
    };
    [low - room, high + room]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gaps_part_a_curve() {
        let t = [0.0, 1.0, 2.0, 3.0, 4.0];
        let y = [f64::NAN, 1.0, f64::INFINITY, f64::NAN, 2.0];
        assert_eq!(pieces(&t, &y), [vec![[1.0, 1.0]], vec![[4.0, 2.0]]]);
        assert!(pieces(&[], &[]).is_empty());
    }

    #[test]
    fn thinning_keeps_spikes_and_ends() {
        let n = 100_000;
        let t: Vec<f64> = (0..n).map(f64::from).collect();
        let mut y = vec![0.0; n as usize];
        y[77_777] = 5.0;
        y[12_345] = -5.0;
        let thinned = &pieces(&t, &y)[0];
        assert!(thinned.len() <= MOST);
        assert!(thinned.contains(&[77_777.0, 5.0]) && thinned.contains(&[12_345.0, -5.0]));
        assert_eq!(thinned.last(), Some(&[99_999.0, 0.0]));
        assert!(thinned.windows(2).all(|w| w[0][0] < w[1][0]));
    }

    #[test]
    fn clipping_cuts_at_the_bounds() {
        let line = [[0.0, 0.0], [1.0, 2.0], [2.0, 0.0]];
        let parts = clip(&line, -1.0, 1.0);
        assert_eq!(parts, [vec![[0.0, 0.0], [0.5, 1.0]], vec![[1.5, 1.0], [2.0, 0.0]]]);
        assert!(clip(&[[0.0, 5.0], [1.0, 5.0]], -1.0, 1.0).is_empty());
        let through = clip(&[[0.0, -2.0], [1.0, 2.0]], -1.0, 1.0);
        assert_eq!(through, [vec![[0.25, -1.0], [0.75, 1.0]]]);
    }

    #[test]
    fn ranges_have_width() {
        for range in [[0.0, 0.0], [3.0, 3.0], [-1e280, -1e280], [1e-300, 1e-300]] {
            let [low, high] = padded(range, 0.05);
            assert!(low < range[0] && range[1] < high && (high - low).is_finite());
        }
        assert_eq!(extent([f64::NAN, 1.0, -2.0, f64::INFINITY]), Some([-2.0, 1.0]));
        assert_eq!(extent([f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn clipped_parts_stay_inside(y in proptest::collection::vec(-3.0..3.0f64, 0..20)) {
            let line: Vec<_> = y.iter().enumerate().map(|(i, y)| [i as f64, *y]).collect();
            for part in clip(&line, -1.0, 1.5) {
                prop_assert!(part.iter().all(|p| (-1.0..=1.5).contains(&p[1])));
            }
        }
    }
}
