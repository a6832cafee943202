//! A plain number as a register of one lane.

use super::Lanes;

macro_rules! one_lane {
    ($t:ty) => {
        impl Lanes<$t> for $t {
            const N: usize = 1;
            #[inline(always)]
            fn load(values: &[$t]) -> Self {
                values[0]
            }
            #[inline(always)]
            fn store(self, out: &mut [$t]) {
                out[0] = self;
            }
            #[inline(always)]
            fn lane(self, i: usize) -> $t {
                assert!(i == 0, "lane {i} of one");
                self
            }
        }
    };
}
one_lane!(f64);
one_lane!(f32);
