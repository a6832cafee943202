//! From the model's soft bodies to forces.

use costate_model::{LeafId, Leaves, Model, SoftBody};

use super::{Block, Parameter, RestPositions, Spring};
use crate::error::DynamicsError;
use crate::force::Force;

fn leaf(leaves: &Leaves, id: LeafId) -> Parameter {
    Parameter::Leaf(leaves.range(id))
}

fn global<const N: usize>(stencils: &[[u32; N]], first: usize) -> Vec<[u32; N]> {
    stencils.iter().map(|s| s.map(|v| v + first as u32)).collect()
}

/// The forces inside the soft bodies of a model, in order.
///
/// # Errors
/// An unknown law.
pub fn forces(model: &Model) -> Result<Vec<Box<dyn Force>>, DynamicsError> {
    let mut out: Vec<Box<dyn Force>> = Vec::new();
    for (i, body) in model.soft.iter().enumerate() {
        let first = model.first_vertex(i);
        if let Some(block) = springs(model, body, first) {
            out.push(block);
        }
    }
    Ok(out)
}

fn springs(model: &Model, body: &SoftBody, first: usize) -> Option<Box<dyn Force>> {
    let springs = body.springs.as_ref()?;
    let leaves = &model.leaves;
    let parameters = [
        leaf(leaves, springs.stiffness),
        leaf(leaves, springs.damping),
        leaf(leaves, springs.rest_length),
    ];
    let rest = RestPositions { range: leaves.range(body.rest_position), first_vertex: first };
    let label = format!("soft.{} springs", body.name);
    Some(Box::new(Block::<Spring, 2, 3, 3>::new(
        label,
        global(&springs.indices, first),
        parameters,
        rest,
    )))
}
