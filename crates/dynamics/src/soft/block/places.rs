//! Where the constants of a block's elements lie.

use std::ops::Range;

use super::mesh::{CHUNK, WIDTH};

/// Where the constants of a block's elements lie, as lanes read them and add to their adjoints.
///
/// Elements come in groups of [`WIDTH`]. A constant of every element's own lies group by group, all those of
/// a group together, so that a pass over the elements is one pass through memory; places of the
/// last group that no element has are filled up. A constant that is the same for all elements lies once per chunk of
/// elements, [`WIDTH`] times over, so that little of it goes through memory and chunks add to its adjoint apart.
pub(super) struct Places<const C: usize> {
    rows: [Row; C],
    /// Number of constants that every element has of its own, and of the others.
    own: usize,
    shared: usize,
    /// Number of elements.
    count: usize,
}

/// Where a constant lies among those of its kind.
#[derive(Clone, Copy)]
enum Row {
    Own(usize),
    Shared(usize),
}

/// The adjoints of the constants of a range of elements that starts with a group.
pub(super) struct Bars<'a, const C: usize> {
    rows: [Row; C],
    stride: usize,
    own: &'a mut [f64],
    shared: &'a mut [f64],
    count: usize,
}

impl<const C: usize> Places<C> {
    /// For `count` elements, some of whose constants are the same for all.
    pub fn new(count: usize, is_shared: impl Fn(usize) -> bool) -> Self {
        let (mut own, mut shared) = (0, 0);
        let rows = std::array::from_fn(|i| {
            let (row, counted): (fn(usize) -> Row, _) =
                if is_shared(i) { (Row::Shared, &mut shared) } else { (Row::Own, &mut own) };
            *counted += 1;
            row(*counted - 1)
        });
        Self { rows, own, shared, count }
    }

    fn own_len(&self) -> usize {
        self.count.div_ceil(WIDTH) * self.own * WIDTH
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.own_len() + self.count.div_ceil(CHUNK) * self.shared * WIDTH
    }

    /// Whether all elements have the same constant `i`.
    pub fn is_shared(&self, i: usize) -> bool {
        matches!(self.rows[i], Row::Shared(_))
    }

    /// Place of constant `i` of element `e`; the elements of its group follow.
    #[inline(always)]
    pub fn at(&self, i: usize, e: usize) -> usize {
        e % WIDTH
            + match self.rows[i] {
                Row::Own(row) => (e / WIDTH * self.own + row) * WIDTH,
                Row::Shared(row) => self.own_len() + (e / CHUNK * self.shared + row) * WIDTH,
            }
    }

    /// For each constant, the place of element `e` and how far it is to the next group of the same
    /// chunk.
    #[inline(always)]
    pub fn walk(&self, e: usize) -> [(usize, usize); C] {
        let mut out = [(0, 0); C];
        let mut i = 0;
        while i < C {
            out[i] = (self.at(i, e), if self.is_shared(i) { 0 } else { self.own * WIDTH });
            i += 1;
        }
        out
    }

    /// The numbers that hold constant `i`, group by group, those included that fill up.
    pub fn groups(&self, i: usize) -> impl Iterator<Item = Range<usize>> {
        let step = if self.is_shared(i) { CHUNK } else { WIDTH };
        (0..self.count).step_by(step).map(move |e| {
            let at = self.at(i, e);
            at..at + WIDTH
        })
    }

    /// The adjoints of all elements.
    pub fn bars<'a>(&self, values: &'a mut [f64]) -> Bars<'a, C> {
        let (own, shared) = values.split_at_mut(self.own_len());
        Bars { rows: self.rows, stride: self.own * WIDTH, own, shared, count: self.count }
    }

    /// The adjoints of all elements, chunk by chunk.
    pub fn chunks<'a>(&self, values: &'a mut [f64]) -> impl Iterator<Item = Bars<'a, C>> {
        let (mut own, mut shared) = values.split_at_mut(self.own_len());
        let (rows, stride, all) = (self.rows, self.own * WIDTH, self.count);
        let shared_len = self.shared * WIDTH;
        (0..all).step_by(CHUNK).map(move |first| {
            let count = CHUNK.min(all - first);
            Bars {
                rows,
                stride,
                own: super::take(&mut own, count.div_ceil(WIDTH) * stride),
                shared: super::take(&mut shared, shared_len),
                count,
            }
        })
    }
}

impl<const C: usize> Bars<'_, C> {
    /// Where the adjoints of constant `i` of the elements from `e` on accumulate, up to the end of
    /// their group.
    #[inline(always)]
    pub fn row(&mut self, i: usize, e: usize) -> &mut [f64] {
        let lane = e % WIDTH;
        let last = if self.count - e < WIDTH - lane { lane + self.count - e } else { WIDTH };
        match self.rows[i] {
            Row::Own(row) => &mut self.own[e / WIDTH * self.stride + row * WIDTH..][lane..last],
            Row::Shared(row) => &mut self.shared[row * WIDTH..][lane..last],
        }
    }

    /// Adds the adjoints of constant `i` of the elements from `e` on, which start a group.
    pub fn add(&mut self, i: usize, e: usize, values: &[f64]) {
        for (at, group) in values.chunks(WIDTH).enumerate() {
            for (to, value) in self.row(i, e + at * WIDTH).iter_mut().zip(group) {
                *to += value;
            }
        }
    }
}
