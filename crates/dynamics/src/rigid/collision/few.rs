//! Lists that are short nearly always, and need no memory of their own then.

use std::ops::{Deref, DerefMut};

/// A list: up to `N` entries in place, more on the heap.
#[derive(Clone, Debug)]
pub(super) struct Few<T, const N: usize> {
    near: [T; N],
    far: Vec<T>,
    count: usize,
}

impl<T: Copy, const N: usize> Few<T, N> {
    /// An empty one; `filler` is never seen.
    pub fn new(filler: T) -> Self {
        Self { near: [filler; N], far: Vec::new(), count: 0 }
    }

    pub fn push(&mut self, x: T) {
        if self.count < N {
            self.near[self.count] = x;
        } else {
            if self.count == N {
                self.far.extend_from_slice(&self.near);
            }
            self.far.push(x);
        }
        self.count += 1;
    }

    pub fn extend(&mut self, all: impl IntoIterator<Item = T>) {
        all.into_iter().for_each(|x| self.push(x));
    }

    /// Keeps the first `count`, where it has as many.
    pub fn truncate(&mut self, count: usize) {
        if count >= self.count {
            return;
        }
        if count > N {
            self.far.truncate(count);
        } else if self.count > N {
            self.near[..count].copy_from_slice(&self.far[..count]);
            self.far.clear();
        }
        self.count = count;
    }

    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Removes an entry, whose place the last one takes.
    pub fn swap_remove(&mut self, k: usize) {
        let last = self.count - 1;
        self[k] = self[last];
        self.truncate(last);
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        if self.count <= N { &self.near[..self.count] } else { &self.far }
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.count <= N { &mut self.near[..self.count] } else { &mut self.far }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_list_on_both_sides_of_its_place() {
        let mut few = Few::<usize, 3>::new(0);
        let mut list = Vec::new();
        for step in 0..200 {
            match step % 11 {
                0..=6 => {
                    few.push(step);
                    list.push(step);
                }
                7 => {
                    few.swap_remove(step % list.len());
                    list.swap_remove(step % (list.len()));
                }
                8 if step % 3 == 0 => {
                    few.truncate(step % 7);
                    list.truncate(step % 7);
                }
                9 if step % 5 == 0 => {
                    few.clear();
                    list.clear();
                }
                _ => {
                    few.extend([step, 1]);
                    list.extend([step, 1]);
                }
            }
            assert_eq!(few[..], list[..], "step {step}");
        }
    }
}
