//! Combinations of parameters that the data hardly fix, in plain words.

use super::covariance::Covariance;
use crate::result::WeakDirection;

/// Columns whose combination cancels to less than one part in this are told (the collinearity
/// index of Brun, Reichert & Künsch 2001, which calls 10 to 15 critical).
const COLLINEARITY: f64 = 15.0;
/// Components smaller than this share of the largest are left out of the text.
const SHOWN: f64 = 0.15;

/// The directions in which the estimate is weakest. `logarithmic` says which parameters are
/// logarithms of their values, so that a direction is a product of powers.
pub fn weak_directions(
    covariance: &Covariance,
    names: &[&str],
    logarithmic: &[bool],
) -> Vec<WeakDirection> {
    let n = names.len();
    let mut out = Vec::new();
    for (k, &value) in covariance.singular_values.iter().enumerate() {
        if n < 2 || value * COLLINEARITY > 1.0 {
            continue;
        }
        // From columns of unit length back to parameters.
        let mut direction: Vec<f64> = (0..n)
            .map(|i| {
                let norm = covariance.column_norms[i];
                if norm > 0.0 { covariance.directions[(i, k)] / norm } else { 0.0 }
            })
            .collect();
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 || !length.is_finite() {
            continue;
        }
        let largest =
            direction.iter().copied().fold(0.0, |m: f64, x| if x.abs() > m.abs() { x } else { m });
        for x in &mut direction {
            *x /= largest;
        }
        // ‖J v‖ = value for the direction of this length.
        let deviation = length.abs() / value.max(1e-300);
        let mut main: Vec<usize> = (0..n).filter(|&i| direction[i].abs() >= SHOWN).collect();
        main.sort_by(|&a, &b| direction[b].abs().total_cmp(&direction[a].abs()));
        let components = main.iter().map(|&i| (names[i].to_owned(), direction[i])).collect();
        let logs = main.iter().all(|&i| logarithmic[i]);
        out.push(WeakDirection {
            text: text(&main, &direction, names, logs),
            deviation: deviation.min(1e300),
            ratio: (1.0 / value).min(1e300),
            components,
        });
    }
    out.reverse();
    out
}

fn text(main: &[usize], direction: &[f64], names: &[&str], logs: bool) -> String {
    match *main {
        [a] => format!("these data hardly fix `{}` next to the other parameters", names[a]),
        [a, b] if logs => {
            let (x, y) = (names[a], names[b]);
            // ln a may change by 1 while ln b changes by s: a^s / b does not.
            let s = direction[b] / direction[a];
            if (s - 1.0).abs() < 0.1 {
                format!("these data fix the ratio `{x}` / `{y}`, not the two apart")
            } else if (s + 1.0).abs() < 0.1 {
                format!("these data fix the product `{x}` · `{y}`, not the factors")
            } else if s > 0.0 {
                format!("these data fix `{x}`^{s:.2} / `{y}`, not the two apart")
            } else {
                format!("these data fix `{x}`^{:.2} · `{y}`, not the factors", -s)
            }
        }
        [a, b] => {
            let s = direction[b] / direction[a];
            let how = if s > 0.0 { "rise together" } else { "trade against each other" };
            format!(
                "these data cannot tell `{}` from `{}`: the two {how} (1 to {:.2}) without a \
                 visible change",
                names[a],
                names[b],
                s.abs()
            )
        }
        _ => {
            let list: Vec<String> = main
                .iter()
                .take(6)
                .map(|&i| format!("`{}` ({:+.2})", names[i], direction[i]))
                .collect();
            let more = if main.len() > 6 { " and more" } else { "" };
            format!("these data hardly see a joint change of {}{more}", list.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::{Block, Loss, Structure};
    use crate::uncertainty::covariance;
    use nalgebra::DMatrix;

    /// The Jacobian of an oscillation that depends on x and y only through x^a y^b.
    fn directions(a: f64, b: f64, epsilon: f64) -> Vec<WeakDirection> {
        let structure = Structure::dense(2, 1);
        let jacobian = DMatrix::from_fn(50, 2, |i, k| {
            let t = 0.1 * i as f64;
            let s = -t * t.sin();
            if k == 0 { a * s } else { b * s + epsilon * t.cos() }
        });
        let block = Block { residuals: vec![0.0; 50], jacobian, priors: 0 };
        let covariance = covariance(&structure, &[block], &[], Loss::Squares);
        weak_directions(&covariance, &["k", "m"], &[true, true])
    }

    #[test]
    fn ratios_and_products_are_named() {
        for epsilon in [0.0, 1e-9, 1e-3] {
            let ratio = directions(0.5, -0.5, epsilon);
            assert_eq!(ratio.len(), 1);
            assert!(ratio[0].text.contains("the ratio"), "{}", ratio[0].text);
            let product = directions(0.5, 0.5, epsilon);
            assert!(product[0].text.contains("the product"), "{}", product[0].text);
        }
        let power = directions(1.0, -0.5, 0.0);
        assert!(power[0].text.contains("`m`^0.50 / `k`"), "{}", power[0].text);
        assert!(directions(0.5, -0.5, 1.0).is_empty());
    }
}
