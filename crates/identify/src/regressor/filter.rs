//! Zero-phase low-pass filters and derivatives of evenly sampled signals.

use std::f64::consts::PI;

/// A section of second order.
#[derive(Clone, Copy)]
struct Section {
    b: [f64; 3],
    a: [f64; 2],
}

/// A Butterworth low-pass of fourth order run forward and backward.
#[derive(Clone, Copy)]
pub(super) struct LowPass {
    sections: [Section; 2],
    /// Samples by which a signal is continued at its ends.
    padding: usize,
}

impl LowPass {
    /// By the cutoff over the sampling frequency, below one half.
    pub fn new(cutoff: f64) -> Self {
        let w = (PI * cutoff.min(0.49)).tan();
        let section = |k: f64| {
            let q = 1.0 / (2.0 * (PI * (2.0 * k + 1.0) / 8.0).cos());
            let norm = 1.0 / (1.0 + w / q + w * w);
            let b = w * w * norm;
            let a = [2.0 * (w * w - 1.0) * norm, (1.0 - w / q + w * w) * norm];
            Section { b: [b, 2.0 * b, b], a }
        };
        let padding = (3.0 / cutoff).ceil() as usize;
        Self { sections: [section(0.0), section(1.0)], padding }
    }

    /// The filtered signal, of the same length.
    pub fn run(&self, x: &[f64]) -> Vec<f64> {
        let n = x.len();
        if n < 2 {
            return x.to_vec();
        }
        // Continued by reflection in its end points.
        let pad = self.padding.min(n - 1);
        let mut y: Vec<f64> = (1..=pad).rev().map(|k| 2.0 * x[0] - x[k]).collect();
        y.extend_from_slice(x);
        y.extend((1..=pad).map(|k| 2.0 * x[n - 1] - x[n - 1 - k]));
        for _ in 0..2 {
            let start = y[0];
            for section in &self.sections {
                let (mut s1, mut s2) = (0.0, 0.0);
                for value in &mut y {
                    let x = *value - start;
                    let out = section.b[0] * x + s1;
                    s1 = section.b[1] * x - section.a[0] * out + s2;
                    s2 = section.b[2] * x - section.a[1] * out;
                    *value = out + start;
                }
            }
            y.reverse();
        }
        y[pad..pad + n].to_vec()
    }
}

/// Central differences; at the ends those of the neighbours.
pub(super) fn derivative(x: &[f64], step: f64) -> Vec<f64> {
    let n = x.len();
    let at = |i: usize| (x[i + 1] - x[i - 1]) / (2.0 * step);
    (0..n).map(|i| if n < 3 { 0.0 } else { at(i.clamp(1, n - 2)) }).collect()
}

/// Second central differences; at the ends those of the neighbours.
pub(super) fn second_derivative(x: &[f64], step: f64) -> Vec<f64> {
    let n = x.len();
    let at = |i: usize| (x[i + 1] - 2.0 * x[i] + x[i - 1]) / (step * step);
    (0..n).map(|i| if n < 3 { 0.0 } else { at(i.clamp(1, n - 2)) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_signals_pass_and_fast_ones_do_not() {
        let wave = |period: f64| (0..2000).map(|i| (2.0 * PI * i as f64 / period).sin()).collect();
        let filter = LowPass::new(0.05);
        let amplitude = |x: &[f64]| x[500..1500].iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let slow: Vec<f64> = wave(200.0);
        let passed = filter.run(&slow);
        for (a, b) in slow.iter().zip(&passed).skip(300).take(1400) {
            assert!((a - b).abs() < 1e-4);
        }
        // At the cutoff half the amplitude is left (forward and backward), above it little.
        assert!((amplitude(&filter.run(&wave(20.0))) - 0.5).abs() < 0.01);
        assert!(amplitude(&filter.run(&wave(5.0))) < 2e-5);
        assert_eq!(filter.run(&[3.0; 50]), [3.0; 50]);
    }

    #[test]
    fn derivatives_of_a_parabola_are_exact() {
        let x: Vec<f64> = (0..9).map(|i| (0.1 * i as f64).powi(2)).collect();
        for (i, v) in derivative(&x, 0.1).iter().enumerate().skip(1).take(7) {
            assert!((v - 0.2 * i as f64).abs() < 1e-12);
        }
        assert!(second_derivative(&x, 0.1).iter().all(|a| (a - 2.0).abs() < 1e-10));
    }
}
