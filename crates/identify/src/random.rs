//! A small seeded generator: the same numbers on every machine and in every version.

/// SplitMix64 (Steele, Lea, Flood 2014), which passes BigCrush.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    spare: Option<f64>,
}

impl Random {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed, spare: None }
    }
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Standard normal, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let scale = (-2.0 * s.ln() / s).sqrt();
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn moments() {
        let mut random = Random::new(1);
        let n = 100_000;
        let values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let variance = values.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02);
        let u: f64 = (0..n).map(|_| random.uniform()).sum();
        assert!((u / f64::from(n) - 0.5).abs() < 0.005);
    }
}
