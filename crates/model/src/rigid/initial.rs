//! The state that an articulation starts in.

use super::leaves::Maker;
use super::{Articulation, JointKind, Keyframe, Placement};
use crate::error::ModelError;
use crate::leaf::{LeafId, Leaves};
use crate::model::Model;

/// Leaves of the start: `joint.NAME.qpos`, `joint.NAME.qvel`, `actuator.NAME.act`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitialState {
    /// Coordinates of each joint; quaternions are normalised before use.
    pub qpos: Vec<LeafId>,
    /// Velocities of each joint.
    pub qvel: Vec<LeafId>,
    /// Activations of each actuator that has any.
    pub act: Vec<Option<LeafId>>,
}

impl Model {
    /// The same model started from a keyframe of its robot, by name or number: the leaves of the start take
    /// its coordinates, velocities and activations; what it does not say is that of the reference pose at rest.
    ///
    /// # Errors
    /// No such keyframe, or a model whose start has no leaves.
    pub fn started_at(&self, keyframe: &str) -> Result<Self, ModelError> {
        let element = format!("keyframe {keyframe}");
        let invalid = |message: String| ModelError::invalid(element.clone(), message);
        let a = self.articulation.as_ref();
        let a = a.ok_or_else(|| invalid("the model has no robot".into()))?;
        let key = a.keyframe(keyframe).ok_or_else(|| {
            let name = |(i, k): (usize, &Keyframe)| match k.name.is_empty() {
                true => i.to_string(),
                false => k.name.clone(),
            };
            let known: Vec<String> = a.keyframes.iter().enumerate().map(name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            invalid(format!("there is no such keyframe; known: {known}"))
        })?;
        let initial = a.initial.as_ref();
        let initial =
            initial.ok_or_else(|| invalid("the start of the model has no leaves".into()))?;
        let mut new = self.clone();
        let or = |values: &[f64], default: Vec<f64>| match values.is_empty() {
            true => default,
            false => values.to_vec(),
        };
        let qpos = or(&key.qpos, a.reference_pose(&self.leaves));
        let qvel = or(&key.qvel, vec![0.0; a.nv()]);
        let act = or(&key.act, vec![0.0; a.na()]);
        for (leaves, values) in [
            (initial.qpos.iter().copied().map(Some).collect(), qpos),
            (initial.qvel.iter().copied().map(Some).collect(), qvel),
            (initial.act.clone(), act),
        ] as [(Vec<Option<LeafId>>, Vec<f64>); 3]
        {
            let mut rest = &values[..];
            for id in leaves.into_iter().flatten() {
                let count = new.leaves.get(id).values.len();
                let (own, others) = rest.split_at(count.min(rest.len()));
                new.leaves.set(id, own)?;
                rest = others;
            }
        }
        Ok(new)
    }
}

impl Articulation {
    /// Coordinates in the pose that the file describes, as the leaves have it.
    pub fn reference_pose(&self, leaves: &Leaves) -> Vec<f64> {
        let mut qpos = Vec::with_capacity(self.nq());
        for joint in &self.joints {
            match joint.kind {
                JointKind::Slide | JointKind::Hinge => {
                    qpos.push(joint.reference.map_or(0.0, |id| leaves.get(id).at(0)));
                }
                JointKind::Ball => qpos.extend([1.0, 0.0, 0.0, 0.0]),
                JointKind::Free => match self.bodies[joint.body].placement {
                    Some(Placement::Pose { pos, quat }) => {
                        qpos.extend(&leaves.get(pos).values);
                        qpos.extend(&leaves.get(quat).values);
                    }
                    _ => qpos.extend([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
                },
            }
        }
        qpos
    }

    /// Adds the leaves of the start, with the values of a keyframe, or the reference pose at rest.
    ///
    /// # Errors
    /// A keyframe of the wrong size, or leaves that are there already.
    pub fn add_initial_state(
        &mut self,
        leaves: &mut Leaves,
        keyframe: Option<&Keyframe>,
    ) -> Result<(), ModelError> {
        let given = |values: Option<&Vec<f64>>, default: Vec<f64>, what: &str| match values {
            Some(values) if !values.is_empty() => {
                if values.len() == default.len() {
                    Ok(values.clone())
                } else {
                    Err(ModelError::WrongLength {
                        path: format!("keyframe {what}"),
                        expected: default.len(),
                        found: values.len(),
                    })
                }
            }
            _ => Ok(default),
        };
        let qpos = given(keyframe.map(|k| &k.qpos), self.reference_pose(leaves), "qpos")?;
        let qvel = given(keyframe.map(|k| &k.qvel), vec![0.0; self.nv()], "qvel")?;
        let act = given(keyframe.map(|k| &k.act), vec![0.0; self.na()], "act")?;
        let mut initial = InitialState::default();
        let (mut q, mut v, mut a) = (0, 0, 0);
        for joint in &self.joints {
            let (nq, nv) = (joint.kind.nq(), joint.kind.nv());
            let (unit, rate) = match joint.kind {
                JointKind::Slide => ("m", "m/s"),
                JointKind::Hinge => ("rad", "rad/s"),
                JointKind::Ball => ("", "rad/s"),
                JointKind::Free => ("m", "m/s"),
            };
            let mut maker = Maker::new(leaves, "joint", &joint.name);
            let about = "coordinates at the start";
            initial.qpos.push(maker.vector("qpos", &qpos[q..q + nq], unit, about)?);
            let about = "velocities at the start";
            initial.qvel.push(maker.vector("qvel", &qvel[v..v + nv], rate, about)?);
            q += nq;
            v += nv;
        }
        for actuator in &self.actuators {
            let n = actuator.law.activations();
            let mut maker = Maker::new(leaves, "actuator", &actuator.name);
            let leaf = match n {
                0 => None,
                _ => Some(maker.vector("act", &act[a..a + n], "", "activation at the start")?),
            };
            initial.act.push(leaf);
            a += n;
        }
        self.initial = Some(initial);
        Ok(())
    }
}
