use nalgebra::DMatrix;

use super::*;

/// A problem given by closures.
struct Given<F> {
    structure: Structure,
    bounds: Vec<(f64, f64)>,
    limits: Vec<f64>,
    floors: Vec<f64>,
    loss: Loss,
    data: f64,
    /// Residuals and Jacobian (row per residual) of a block.
    block: F,
}

type Rows = (Vec<f64>, Vec<Vec<f64>>);

impl<F: Fn(&[f64], usize) -> Option<Rows> + Sync> Given<F> {
    fn new(structure: Structure, block: F) -> Self {
        let n = structure.len();
        Self {
            structure,
            bounds: vec![(f64::NEG_INFINITY, f64::INFINITY); n],
            limits: vec![f64::INFINITY; n],
            floors: vec![1e-3; n],
            loss: Loss::Squares,
            data: 1.0,
            block,
        }
    }
    fn fit(&self, start: &[f64]) -> Fit {
        minimise(self, LmState::new(start.to_vec()), &LmOptions::default(), &mut |_, _| {}).unwrap()
    }
}

impl<F: Fn(&[f64], usize) -> Option<Rows> + Sync> LeastSquares for Given<F> {
    fn structure(&self) -> &Structure {
        &self.structure
    }
    fn bounds(&self) -> &[(f64, f64)] {
        &self.bounds
    }
    fn step_limits(&self) -> &[f64] {
        &self.limits
    }
    fn floors(&self) -> &[f64] {
        &self.floors
    }
    fn loss(&self) -> Loss {
        self.loss
    }
    fn data_norm2(&self) -> f64 {
        self.data
    }
    fn residuals(&self, p: &[f64]) -> Result<Vec<(Vec<f64>, usize)>, Failed> {
        Ok(self.linearise(p)?.into_iter().map(|b| (b.residuals, b.priors)).collect())
    }
    fn linearise(&self, p: &[f64]) -> Result<Vec<Block>, Failed> {
        (0..self.structure.local.len())
            .map(|b| {
                let Some((residuals, rows)) = (self.block)(p, b) else {
                    return Err(Failed::Rejected("outside".into()));
                };
                let columns: Vec<usize> = self.structure.columns(b).collect();
                let jacobian =
                    DMatrix::from_fn(residuals.len(), columns.len(), |i, k| rows[i][columns[k]]);
                Ok(Block { residuals, jacobian, priors: 0 })
            })
            .collect()
    }
}

/// y = a exp(−b t) at ten times.
fn decay(p: &[f64], truth: &[f64]) -> Rows {
    let (mut r, mut j) = (vec![], vec![]);
    for i in 0..10 {
        let t = 0.3 * i as f64;
        let e = (-p[1] * t).exp();
        r.push(p[0] * e - truth[0] * (-truth[1] * t).exp());
        j.push(vec![e, -t * p[0] * e]);
    }
    (r, j)
}

#[test]
fn clean_data_give_the_truth_to_rounding() {
    let problem = Given::new(Structure::dense(2, 1), |p: &[f64], _| Some(decay(p, &[2.0, 0.7])));
    let fit = problem.fit(&[0.5, 3.0]);
    assert_eq!(fit.status, Status::Converged);
    assert!((fit.state.p[0] - 2.0).abs() < 1e-12 && (fit.state.p[1] - 0.7).abs() < 1e-12);
    assert!(fit.state.iteration < 20, "{}", fit.state.iteration);
}

#[test]
fn rosenbrock() {
    let problem = Given::new(Structure::dense(2, 1), |p: &[f64], _| {
        Some((
            vec![10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]],
            vec![vec![-20.0 * p[0], 10.0], vec![-1.0, 0.0]],
        ))
    });
    let fit = problem.fit(&[-1.2, 1.0]);
    assert!(fit.status.converged());
    assert!((fit.state.p[0] - 1.0).abs() < 1e-10 && (fit.state.p[1] - 1.0).abs() < 1e-10);
}

#[test]
fn bounds_hold_and_release() {
    // The free minimum (3, 1) lies outside; on x ≤ 2 the best y is that of the coupled residuals.
    let problem = |upper: f64| {
        let mut given = Given::new(Structure::dense(2, 1), |p: &[f64], _| {
            Some((vec![p[0] - 3.0, p[0] + p[1] - 4.0], vec![vec![1.0, 0.0], vec![1.0, 1.0]]))
        });
        given.bounds[0] = (0.0, upper);
        given
    };
    let fit = problem(2.0).fit(&[1.0, 0.0]);
    assert!(fit.status.converged());
    assert_eq!(fit.state.p[0], 2.0);
    assert!((fit.state.p[1] - 2.0).abs() < 1e-5);
    assert_eq!(fit.at_bound, [true, false]);
    // Started on a bound that the minimum does not lie on.
    for start in [0.0, 5.0] {
        let fit = problem(5.0).fit(&[start, 0.0]);
        assert!((fit.state.p[0] - 3.0).abs() < 1e-9, "{:?}", fit.state.p);
    }
}

#[test]
fn tiny_starts_under_a_logarithm_do_not_stall() {
    for power in [-8, -3, 5] {
        let mut problem = Given::new(Structure::dense(1, 1), |p: &[f64], _| {
            let k = p[0].exp();
            let (mut r, mut j) = (vec![], vec![]);
            for i in 1..20 {
                let t = 0.05 * i as f64;
                r.push(100.0 * ((k * t).sqrt().tanh() - (2.0 * t).sqrt().tanh()));
                let c = (k * t).sqrt().cosh();
                j.push(vec![100.0 / (c * c) * 0.5 * (k * t).sqrt()]);
            }
            Some((r, j))
        });
        problem.limits[0] = 100f64.ln();
        let fit = problem.fit(&[f64::powi(10.0, power).ln()]);
        assert!(fit.status.converged(), "{:?}", fit.status);
        let k = fit.state.p[0].exp();
        assert!((k - 2.0).abs() < 1e-9, "from 1e{power}: {k} {:?}", fit.state);
    }
}

#[test]
fn trials_that_cannot_be_evaluated_are_rejected() {
    let problem = Given::new(Structure::dense(2, 1), |p: &[f64], _| {
        (p[1] < 1.0).then(|| decay(p, &[2.0, 0.7]))
    });
    let fit = problem.fit(&[100.0, 0.99]);
    assert!(fit.status.converged());
    assert!((fit.state.p[1] - 0.7).abs() < 1e-10);
}

#[test]
fn blocks_eliminated_one_by_one_give_the_dense_solution() {
    // y_b(t) = s exp(−k t) + offset_b: two shared parameters, one or two per block.
    let rows = |p: &[f64], b: usize, dense: usize| {
        let at = 2 + b;
        let (mut r, mut j) = (vec![], vec![]);
        for i in 0..12 {
            let t = 0.2 * i as f64 + 0.01 * b as f64;
            let noise = ((i * 7 + b * 13) as f64).sin() * 0.05;
            let e = (-p[1] * t).exp();
            r.push((p[0] * e + p[at] - 1.5 * (-0.8 * t).exp() - 0.1 * b as f64 - noise) / 0.05);
            let mut row = vec![0.0; dense];
            (row[0], row[1], row[at]) = (e / 0.05, -t * p[0] * e / 0.05, 1.0 / 0.05);
            j.push(row);
        }
        (r, j)
    };
    let blocks = 6;
    let n = 2 + blocks;
    let arrow = Given::new(Structure { shared: 2, local: vec![1; blocks] }, |p: &[f64], b| {
        Some(rows(p, b, n))
    });
    let dense = Given::new(Structure::dense(n, blocks), |p: &[f64], b| Some(rows(p, b, n)));
    let start = vec![1.0; n];
    let (a, d) = (arrow.fit(&start), dense.fit(&start));
    assert!(a.status.converged() && d.status.converged());
    for (x, y) in a.state.p.iter().zip(&d.state.p) {
        assert!((x - y).abs() < 1e-9, "{x} {y}");
    }
    // One step of each is the same as well.
    let reduced = |problem: &dyn LeastSquares| {
        let blocks = problem.linearise(&start).unwrap();
        Reduced::new(problem.structure(), &blocks, Loss::Squares)
    };
    let scale = vec![2.0; n];
    let mut free = vec![true; n];
    free[1] = false;
    free[4] = false;
    let one = reduced(&arrow).solve(0.1, &scale, &free);
    let two = reduced(&dense).solve(0.1, &scale, &free);
    for (x, y) in one.iter().zip(&two) {
        assert!((x - y).abs() < 1e-12, "{x} {y}");
    }
    assert_eq!((one[1], one[4]), (0.0, 0.0));
}

/// Numbers without order.
fn scattered(rows: usize, columns: usize, seed: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |i, k| ((i * 31 + k * 17 + seed * 7) as f64 * 1.7).sin())
}

/// Two chains of three and two windows with states of two numbers, shared and own parameters.
#[test]
fn states_of_windows_are_eliminated_as_a_dense_solve_does() {
    let outer = Structure { shared: 2, local: vec![1, 0, 0] };
    let states = vec![vec![3..5, 5..7], vec![7..9], vec![]];
    let chains = Chains { outer, states };
    let n = chains.len();
    assert_eq!(n, 9);
    let (mut blocks, mut places) = (Vec::new(), Vec::new());
    for b in 0..3 {
        for w in 0..chains.windows(b) {
            let columns: Vec<usize> = chains.columns(b, w).collect();
            let rows = if b == 2 { 1 } else { 6 + w };
            let jacobian = scattered(rows, columns.len(), 10 * b + w);
            let residuals = scattered(rows, 1, 50 + 10 * b + w).as_slice().to_vec();
            blocks.push(Block { residuals, jacobian, priors: 2.min(rows) });
            places.push(columns);
        }
    }
    let total = blocks.iter().map(|b| b.residuals.len()).sum();
    let (mut j, mut r) = (DMatrix::zeros(total, n), nalgebra::DVector::zeros(total));
    let mut at = 0;
    for (block, columns) in blocks.iter().zip(&places) {
        for i in 0..block.residuals.len() {
            r[at] = block.residuals[i];
            for (k, &column) in columns.iter().enumerate() {
                j[(at, column)] += block.jacobian[(i, k)];
            }
            at += 1;
        }
    }
    let picture = Chained::new(&chains, &blocks, Loss::Squares, &[1.0; 6]);
    let gradient = j.transpose() * &r;
    for (a, b) in picture.gradient().iter().zip(gradient.iter()) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    let scale: Vec<f64> = (0..n).map(|i| 1.0 + 0.3 * i as f64).collect();
    let step = picture.solve(0.2, &scale, &vec![true; n]);
    let mut normal = j.transpose() * &j;
    for i in 0..n {
        normal[(i, i)] += 0.2 * scale[i] * scale[i];
    }
    let expected = normal.lu().solve(&-&gradient).unwrap();
    for (a, b) in step.iter().zip(expected.iter()) {
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
    let moved = &j * nalgebra::DVector::from_column_slice(&step) + &r;
    let decrease = 0.5 * (r.norm_squared() - moved.norm_squared());
    assert!((picture.decrease(&step) - decrease).abs() < 1e-10);
    // States that follow the others leave no gradient by themselves.
    for (b, of_chain) in chains.states.iter().enumerate() {
        let columns: Vec<usize> = chains.outer.columns(b).collect();
        for k in 0..columns.len() {
            let mut all = nalgebra::DVector::zeros(n);
            all[columns[k]] = 1.0;
            for (range, state) in of_chain.iter().zip(picture.following(b)) {
                all.rows_mut(range.start, range.len()).copy_from(&state.column(k));
            }
            let by = j.transpose() * (&j * all);
            for i in of_chain.iter().flat_map(|range| range.clone()) {
                assert!(by[i].abs() < 1e-10, "{b} {k} {i}: {}", by[i]);
            }
        }
    }
}

#[test]
fn fewer_residuals_than_parameters() {
    // The damped step equals the one of the normal equations.
    let rows = vec![vec![1.0, 2.0, -1.0, 0.5], vec![0.3, -1.0, 2.0, 4.0]];
    let residuals = vec![1.0, -2.0];
    let problem =
        Given::new(Structure::dense(4, 1), |_: &[f64], _| Some((residuals.clone(), rows.clone())));
    let blocks = problem.linearise(&[0.0; 4]).unwrap();
    let reduced = Reduced::new(problem.structure(), &blocks, Loss::Squares);
    let scale = [1.0, 2.0, 3.0, 4.0];
    let step = reduced.solve(0.3, &scale, &[true; 4]);
    let j = &blocks[0].jacobian;
    let mut normal = j.transpose() * j;
    for i in 0..4 {
        normal[(i, i)] += 0.3 * scale[i] * scale[i];
    }
    let g = j.transpose() * nalgebra::DVector::from_vec(residuals.clone());
    let expected = normal.lu().solve(&-g).unwrap();
    for (a, b) in step.iter().zip(expected.iter()) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    let before: f64 = residuals.iter().map(|r| r * r).sum::<f64>() / 2.0;
    let after = (j * nalgebra::DVector::from_vec(step.clone())
        + nalgebra::DVector::from_vec(residuals.clone()))
    .norm_squared()
        / 2.0;
    assert!((reduced.decrease(&step) - (before - after)).abs() < 1e-12);
}

#[test]
fn robust_losses_ignore_outliers() {
    // A line through clean data with one wild point.
    let line = |loss| {
        let mut given = Given::new(Structure::dense(2, 1), |p: &[f64], _| {
            let (mut r, mut j) = (vec![], vec![]);
            for i in 0..20 {
                let t = i as f64 / 10.0;
                let y = 1.0 + 2.0 * t + if i == 13 { 50.0 } else { 0.01 * (i as f64 * 9.7).sin() };
                r.push((p[0] + p[1] * t - y) / 0.01);
                j.push(vec![100.0, t * 100.0]);
            }
            Some((r, j))
        });
        given.loss = loss;
        given.fit(&[0.0, 0.0]).state.p
    };
    assert!((line(Loss::Squares)[1] - 2.0).abs() > 0.3);
    assert!((line(Loss::Huber(1.345))[1] - 2.0).abs() < 0.01);
    assert!((line(Loss::Cauchy(2.385))[1] - 2.0).abs() < 0.01);
}

#[test]
fn losses_agree_with_their_derivatives() {
    for loss in [Loss::Squares, Loss::Huber(1.3), Loss::Cauchy(2.0)] {
        for r in [0.2, 1.0, 2.5, 7.0] {
            let d = 1e-6;
            let rho = |r: f64| loss.value(r * r);
            let slope = (rho(r + d) - rho(r - d)) / (2.0 * d);
            assert!((slope - 2.0 * r * loss.weight(r * r)).abs() < 1e-8);
            let psi = |r: f64| r * loss.weight(r * r);
            let curvature = (psi(r + d) - psi(r - d)) / (2.0 * d);
            assert!((curvature - loss.curvature(r * r)).abs() < 1e-8);
        }
    }
}

#[test]
fn a_saved_state_continues_to_the_same_bits() {
    let problem = Given::new(Structure::dense(2, 1), |p: &[f64], _| {
        let (mut r, j) = decay(p, &[2.0, 0.7]);
        for (i, r) in r.iter_mut().enumerate() {
            *r += 0.01 * (i as f64 * 5.0).sin();
        }
        Some((r, j))
    });
    let mut states = Vec::new();
    let options = LmOptions::default();
    let whole = minimise(&problem, LmState::new(vec![0.5, 3.0]), &options, &mut |s, _| {
        states.push(serde_json::to_string(s).unwrap());
    })
    .unwrap();
    for text in &states {
        let state: LmState = serde_json::from_str(text).unwrap();
        let rest = minimise(&problem, state, &options, &mut |_, _| {}).unwrap();
        assert_eq!(rest.state.p, whole.state.p);
        assert_eq!(rest.cost.to_bits(), whole.cost.to_bits());
        assert_eq!(rest.state.iteration, whole.state.iteration);
    }
}

#[test]
fn nothing_to_fit_is_a_fit() {
    let problem =
        Given::new(Structure::dense(0, 1), |_: &[f64], _| Some((vec![1.0, 2.0], vec![vec![]; 2])));
    let fit = problem.fit(&[]);
    assert!(fit.status.converged());
    assert_eq!(fit.cost, 2.5);
}
