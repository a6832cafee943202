//! From the model's soft bodies to forces.

use costate_model::{DampingLaw, LeafId, Leaves, Model, SoftBody};

use super::{Block, DiscreteShell, Membrane, Parameter, RestPositions, Spring, WarpHinge};
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
        if let Some(block) = membrane(model, body, first) {
            out.push(block);
        }
        if let Some(block) = hinges(model, body, first)? {
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

fn membrane(model: &Model, body: &SoftBody, first: usize) -> Option<Box<dyn Force>> {
    let membrane = body.membrane.as_ref()?;
    let leaves = &model.leaves;
    let parameters = [
        leaf(leaves, membrane.stiffness),
        leaf(leaves, membrane.area_stiffness),
        leaf(leaves, membrane.damping),
        leaf(leaves, membrane.drag),
        leaf(leaves, membrane.lift),
        leaf(leaves, membrane.activation),
        leaf(leaves, membrane.density),
    ];
    let rest = RestPositions { range: leaves.range(body.rest_position), first_vertex: first };
    let label = format!("soft.{} triangles", body.name);
    let stencils = global(&membrane.triangles, first);
    Some(match membrane.damping_law {
        DampingLaw::FrameIndifferent => {
            Box::new(Block::<Membrane<false>, 3, 7, 9>::new(label, stencils, parameters, rest))
        }
        DampingLaw::Warp => {
            Box::new(Block::<Membrane<true>, 3, 7, 9>::new(label, stencils, parameters, rest))
        }
    })
}

fn hinges(
    model: &Model,
    body: &SoftBody,
    first: usize,
) -> Result<Option<Box<dyn Force>>, DynamicsError> {
    let Some(hinges) = &body.hinges else { return Ok(None) };
    let leaves = &model.leaves;
    let parameters = [
        leaf(leaves, hinges.stiffness),
        leaf(leaves, hinges.damping),
        leaf(leaves, hinges.rest_angle),
    ];
    let rest = RestPositions { range: leaves.range(body.rest_position), first_vertex: first };
    let label = format!("soft.{} hinges", body.name);
    let stencils = global(&hinges.indices, first);
    Ok(Some(match &*hinges.law {
        "discrete-shells" => {
            Box::new(Block::<DiscreteShell, 4, 3, 3>::new(label, stencils, parameters, rest))
        }
        "warp" => Box::new(Block::<WarpHinge, 4, 3, 3>::new(label, stencils, parameters, rest)),
        other => {
            return Err(DynamicsError::UnknownLaw {
                element: format!("soft.{}", body.name),
                kind: "bending",
                name: other.into(),
                known: vec!["discrete-shells".into(), "warp".into()],
            });
        }
    }))
}
