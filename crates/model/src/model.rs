//! The model: what is simulated, as the file or the builder says it.

use crate::control::Control;
use crate::error::ModelError;
use crate::geom::Geom;
use crate::leaf::{Leaf, LeafId, Leaves};
use crate::motion::InputChannel;
use crate::rigid::Articulation;
use crate::soft::SoftBody;

/// Settings of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Gravity, leaf `option.gravity`, m/s².
    pub gravity: LeafId,
    /// Time step h, s.
    pub timestep: f64,
    /// How long `simulate` runs unless told otherwise, s.
    pub duration: f64,
    /// Index of the axis that points up (for pictures and defaults): 1 for y, 2 for z.
    pub up_axis: usize,
    /// Whether derivatives add the jump (saltation) term at contact onset for laws that jump.
    pub saltation: bool,
    /// Width over which derivatives relax the contacts of robots, m; zero for none. Motions do not depend on it.
    pub smoothing: f64,
}

/// A model: structure, settings and the tree of leaves that holds every physical number.
#[derive(Clone, Debug)]
pub struct Model {
    /// Name, for reports.
    pub name: String,
    /// Settings.
    pub options: Options,
    /// Soft bodies, in order.
    pub soft: Vec<SoftBody>,
    /// Static geoms, in order.
    pub geoms: Vec<Geom>,
    /// Articulated rigid bodies.
    pub articulation: Option<Articulation>,
    /// Controllers, drives and further friction of the articulation.
    pub control: Control,
    /// Every physical number.
    pub leaves: Leaves,
}

impl Model {
    /// An empty model with z up, g = 9.81 m/s² downward and h = 1 ms.
    pub fn new(name: impl Into<String>) -> Self {
        let mut leaves = Leaves::new();
        let gravity = leaves
            .add(Leaf::array(
                "option.gravity",
                vec![0.0, 0.0, -9.81],
                vec![3],
                "m/s^2",
                "acceleration of gravity",
            ))
            .expect("the first leaf of an empty tree cannot collide");
        Self {
            name: name.into(),
            options: Options {
                gravity,
                timestep: 1e-3,
                duration: 1.0,
                up_axis: 2,
                saltation: false,
                smoothing: 0.0,
            },
            soft: Vec::new(),
            geoms: Vec::new(),
            articulation: None,
            control: Control::default(),
            leaves,
        }
    }

    /// θ, the values of all leaves end to end.
    pub fn theta(&self) -> Vec<f64> {
        self.leaves.theta()
    }

    /// The same model with another θ.
    ///
    /// # Errors
    /// A wrong length or a value out of bounds.
    pub fn with_theta(&self, theta: &[f64]) -> Result<Self, ModelError> {
        Ok(Self { leaves: self.leaves.with_theta(theta)?, ..self.clone() })
    }

    /// The same model with one leaf set; one number sets a whole field.
    ///
    /// # Errors
    /// An unknown path, a wrong count, a value out of bounds.
    pub fn with(&self, path: &str, values: &[f64]) -> Result<Self, ModelError> {
        let mut new = self.clone();
        let id = new.leaves.find(path)?;
        new.leaves.set(id, values)?;
        Ok(new)
    }

    /// The current values of a leaf.
    ///
    /// # Errors
    /// An unknown path.
    pub fn get(&self, path: &str) -> Result<&[f64], ModelError> {
        Ok(&self.leaves.get(self.leaves.find(path)?).values)
    }

    /// Index of the first vertex of soft body `body` among all vertices.
    pub fn first_vertex(&self, body: usize) -> usize {
        self.soft[..body].iter().map(|b| b.vertex_count).sum()
    }

    /// Number of soft vertices.
    pub fn vertex_count(&self) -> usize {
        self.soft.iter().map(|b| b.vertex_count).sum()
    }

    /// The soft body of a name.
    pub fn soft_body(&self, name: &str) -> Option<(usize, &SoftBody)> {
        self.soft.iter().enumerate().find(|(_, b)| b.name == name)
    }

    /// All input channels: per soft body its loads, its paths, then its activation; then the
    /// controls of the actuators, `actuator.NAME`, but for those that are commanded by the control; then the
    /// control's own inputs, `input.NAME`.
    pub fn inputs(&self) -> Vec<InputChannel> {
        let mut channels = Vec::new();
        for body in &self.soft {
            let name = &body.name;
            for load in &body.loads {
                let name = format!("soft.{name}.load.{}", load.name);
                channels.push(InputChannel { name, size: 3, unit: "N" });
            }
            for path in &body.paths {
                let name = format!("soft.{name}.path.{}", path.name);
                channels.push(InputChannel { name, size: 3, unit: "m" });
            }
            if let Some(tetrahedra) = &body.tetrahedra
                && let Some(input) = &tetrahedra.activation_input
            {
                let name = format!("soft.{name}.activation.{input}");
                channels.push(InputChannel { name, size: 1, unit: "" });
            }
        }
        let actuators = self.articulation.iter().flat_map(|a| &a.actuators).enumerate();
        for (_, actuator) in actuators.filter(|(i, _)| !self.control.commands(*i)) {
            let name = format!("actuator.{}", actuator.name);
            channels.push(InputChannel { name, size: 1, unit: "" });
        }
        for input in &self.control.inputs {
            let name = format!("input.{}", input.name);
            channels.push(InputChannel { name, size: 1, unit: input.unit });
        }
        channels
    }
}
