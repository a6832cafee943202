//! Limits as sensors measure them: the position, the rate and the force of the first row of a limit.

use costate_num::Scalar;

use super::build::{Constraints, RowInputs, Source};
use super::law::Zone;
use super::pullback::{RowAdjoints, RowSeeds};
use super::stage::{ConstraintStage, pull_spatial_tendons};
use crate::rigid::adjoint::Adjoint;
use crate::rigid::transport::Motions;
use crate::rigid::tree::SensorKind;

/// Which number of a limit's row a sensor measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rigid) enum LimitReading {
    /// Distance from the limit, less its margin.
    Position,
    /// Its rate.
    Velocity,
    /// The force of the limit.
    Force,
}

impl LimitReading {
    /// What a sensor of a limit measures; `None` of other sensors.
    pub fn of(kind: SensorKind) -> Option<Self> {
        use SensorKind as K;
        match kind {
            K::JointLimitPosition(_) | K::TendonLimitPosition(_) => Some(Self::Position),
            K::JointLimitVelocity(_) | K::TendonLimitVelocity(_) => Some(Self::Velocity),
            K::JointLimitForce(_) | K::TendonLimitForce(_) => Some(Self::Force),
            _ => None,
        }
    }
}

/// Adjoints of what sensors of limits measure, per row.
#[derive(Clone, Debug, Default)]
pub(in crate::rigid) struct LimitSeeds {
    pub position: Vec<f64>,
    pub rate: Vec<f64>,
    pub force: Vec<f64>,
    /// Of the masses of rows: what [`pull_limits`](ConstraintStage::pull_limits) leaves to be added through the
    /// ratio of a step's diagonals.
    pub mass: Vec<f64>,
    /// Of the rows' exact diagonals, where their masses follow from these.
    pub diagonal: Vec<f64>,
    any: bool,
}

impl LimitSeeds {
    /// Zero, for a number of rows.
    pub fn clear(&mut self, rows: usize) {
        self.any = false;
        self.diagonal.clear();
        for numbers in [&mut self.position, &mut self.rate, &mut self.force, &mut self.mass] {
            numbers.clear();
            numbers.resize(rows, 0.0);
        }
    }

    /// Adds the adjoint of a reading of row `r`.
    pub fn add(&mut self, reading: LimitReading, r: usize, bar: f64) {
        self.any = true;
        let to = match reading {
            LimitReading::Position => &mut self.position,
            LimitReading::Velocity => &mut self.rate,
            LimitReading::Force => &mut self.force,
        };
        to[r] += bar;
    }
}

impl<S: Scalar> Constraints<S> {
    /// The first row of the limit that a sensor is of, where the limit acts.
    pub(in crate::rigid) fn limit_row(&self, kind: SensorKind) -> Option<usize> {
        use SensorKind as K;
        let of_joint = |j: usize, source: Source| match source {
            Source::JointLimit { joint, .. } | Source::BallLimit(joint) => joint == j,
            _ => false,
        };
        let of_tendon = |t: usize, source: Source| match source {
            Source::TendonLimit { tendon, .. } => tendon == t,
            _ => false,
        };
        let item = self.items.iter().find(|item| match kind {
            K::JointLimitPosition(j) | K::JointLimitVelocity(j) | K::JointLimitForce(j) => {
                of_joint(j, item.source)
            }
            K::TendonLimitPosition(t) | K::TendonLimitVelocity(t) | K::TendonLimitForce(t) => {
                of_tendon(t, item.source)
            }
            _ => false,
        })?;
        Some(item.row)
    }

    /// A number of a limit's row; `pushes` says whether the limit has a force at the acceleration `a`.
    pub(in crate::rigid) fn read_limit(
        &self,
        reading: LimitReading,
        r: usize,
        a: &[S],
        pushes: bool,
    ) -> S {
        match reading {
            LimitReading::Position => self.states[r].position,
            LimitReading::Velocity => self.states[r].velocity,
            LimitReading::Force if pushes => {
                -(self.rows.mass[r] * (self.rows.dot(r, a) - self.rows.reference[r]))
            }
            LimitReading::Force => S::zero(),
        }
    }
}

impl ConstraintStage {
    /// Whether the limit of row `r` has a force at the solution.
    pub(in crate::rigid) fn pushes(&self, r: usize) -> bool {
        self.solver.zone.get(r).is_some_and(|zone| *zone == Zone::Quadratic)
    }

    /// Adds the adjoints of readings of limits by configuration, velocity and constants at a held
    /// acceleration, and that by the acceleration to `a_bar`: a force is D (a_ref − J a). Those by exact diagonals
    /// are left in `by`.
    pub(in crate::rigid) fn pull_limits(
        &self,
        at: RowInputs<f64>,
        by: &mut LimitSeeds,
        a_bar: &mut [f64],
        out: &mut Adjoint,
    ) {
        if !by.any {
            return;
        }
        let rows = &self.constraints.rows;
        let zeros = vec![0.0; rows.len()];
        if at.tree.options.exact_diagonal {
            by.diagonal.resize(rows.len(), 0.0);
        }
        let (mut weight, mut mass) = (zeros.clone(), zeros.clone());
        for r in 0..rows.len() {
            if by.force[r] != 0.0 && self.pushes(r) {
                weight[r] = rows.mass[r] * by.force[r];
                mass[r] = -self.solver.x[r] * by.force[r];
                rows.add_transposed(r, -weight[r], a_bar);
            }
        }
        let seeds = RowSeeds {
            force: &zeros,
            weight: &weight,
            mass: &mass,
            loss: &zeros,
            mu: &[],
            friction: &[],
            position: &by.position,
            rate: &by.rate,
        };
        let still = vec![0.0; at.tree.nv];
        let motions = Motions {
            v: at.qvel,
            a: &self.solver.acceleration,
            lambda: &still,
            // Limits act along joints and tendons, not between bodies.
            velocity: &[],
            acceleration: &[],
            lambda_twist: &[],
            push_twist: &[],
        };
        by.mass.copy_from_slice(&mass);
        let mut tendons = Vec::new();
        for item in &self.constraints.items {
            let limit = matches!(
                item.source,
                Source::JointLimit { .. } | Source::BallLimit(_) | Source::TendonLimit { .. }
            );
            if limit {
                let Adjoint { q, v, c, .. } = &mut *out;
                let tendons = &mut tendons;
                let diagonal = &mut by.diagonal[..];
                let mut bar = RowAdjoints { q, v, c, bodies: &mut [], tendons, diagonal };
                self.constraints.pull_item(at, motions, *item, seeds, &mut bar);
            }
        }
        pull_spatial_tendons(at, &mut tendons, out);
    }
}
