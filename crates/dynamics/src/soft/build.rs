//! From the model's soft bodies to forces.

use costate_model::{
    DampingLaw, ElasticView, LeafId, Leaves, Material, Model, ModelError, SoftBody, SpringLaw,
    Tetrahedra, TetrahedraMass,
};

use super::{
    Block, DiscreteShell, Membrane, Parameter, RecordedSprings, Registry, RestPositions, Spring,
    TetrahedraParts, WarpHinge,
};
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
/// An unknown law, a law with a wrong number of parameters, a setting that the law lacks.
pub fn forces(model: &Model, registry: &Registry) -> Result<Vec<Box<dyn Force>>, DynamicsError> {
    let mut out: Vec<Box<dyn Force>> = Vec::new();
    for (i, body) in model.soft.iter().enumerate() {
        let first = model.first_vertex(i);
        if let Some(tetrahedra) = &body.tetrahedra {
            out.push(tetrahedra_force(model, body, tetrahedra, first, registry)?);
        }
        if let Some(block) = springs(model, body, first, registry)? {
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

fn tetrahedra_force(
    model: &Model,
    body: &SoftBody,
    tetrahedra: &Tetrahedra,
    first: usize,
    registry: &Registry,
) -> Result<Box<dyn Force>, DynamicsError> {
    let leaves = &model.leaves;
    let element = format!("soft.{}", body.name);
    let name = &tetrahedra.material.law;
    let law = registry.get(name).ok_or_else(|| DynamicsError::UnknownLaw {
        element: element.clone(),
        kind: "material",
        name: name.clone(),
        known: registry.names().into_iter().map(String::from).collect(),
    })?;
    let material = material(leaves, &tetrahedra.material);
    if material.len() != law.parameters() {
        let message = format!(
            "the material law `{name}` takes {} parameters, found {}",
            law.parameters(),
            material.len()
        );
        return Err(ModelError::Invalid { element, message }.into());
    }
    let damping = &tetrahedra.damping;
    if damping.law == DampingLaw::Warp
        && leaves.get(damping.stiffness).values.iter().any(|&beta| beta != 0.0)
    {
        let message = "damping = \"warp\" has no stiffness-proportional part; set \
                       stiffness_damping to 0 or choose the frame-indifferent law";
        return Err(ModelError::Invalid { element, message: message.into() }.into());
    }
    if damping.law == DampingLaw::Warp && !law.damps_like_warp() {
        let message =
            "a recorded law cannot damp as warp.sim does; choose the frame-indifferent law";
        return Err(ModelError::Invalid { element, message: message.into() }.into());
    }
    let (density, total_mass) = match &tetrahedra.mass {
        TetrahedraMass::Density(id) => (leaf(leaves, *id), None),
        TetrahedraMass::Total { mass, relative } => {
            (Parameter::Constants(relative.clone()), Some(leaves.range(*mass).start))
        }
        TetrahedraMass::GridCell { .. } | TetrahedraMass::None => (Parameter::Constant(0.0), None),
    };
    let activation_input = tetrahedra.activation_input.as_ref().and_then(|input| {
        let name = format!("{element}.activation.{input}");
        let channels = model.inputs();
        let at = channels.iter().position(|channel| channel.name == name)?;
        Some(channels[..at].iter().map(|channel| channel.size).sum())
    });
    Ok(law.build(TetrahedraParts {
        label: format!("{element} tetrahedra"),
        stencils: global(&tetrahedra.indices, first),
        rest: RestPositions { range: leaves.range(body.rest_position), first_vertex: first },
        material,
        own: [
            leaf(leaves, damping.viscosity),
            leaf(leaves, damping.stiffness),
            density,
            leaf(leaves, tetrahedra.activation),
        ],
        total_mass,
        activation_input,
        damping: damping.law,
    }))
}

/// The parameters of a material as functions of θ.
fn material(leaves: &Leaves, material: &Material) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> =
        material.parameters.iter().map(|&id| leaf(leaves, id)).collect();
    if material.view == ElasticView::Engineering
        && let [young, poisson, ..] = material.parameters[..]
    {
        let (young, poisson) = (leaves.range(young), leaves.range(poisson));
        parameters[0] = Parameter::ShearModulus { young: young.clone(), poisson: poisson.clone() };
        parameters[1] = Parameter::LameLambda { young, poisson };
    }
    parameters
}

fn springs(
    model: &Model,
    body: &SoftBody,
    first: usize,
    registry: &Registry,
) -> Result<Option<Box<dyn Force>>, DynamicsError> {
    let Some(springs) = &body.springs else { return Ok(None) };
    let leaves = &model.leaves;
    let [damping, rest_length] = [springs.damping, springs.rest_length].map(|id| leaf(leaves, id));
    let rest = RestPositions { range: leaves.range(body.rest_position), first_vertex: first };
    let label = format!("soft.{} springs", body.name);
    let stencils = global(&springs.indices, first);
    Ok(Some(match &springs.law {
        SpringLaw::Hooke { stiffness } => {
            let parameters = [leaf(leaves, *stiffness), damping, rest_length];
            Box::new(Block::<Spring, 2, 3, 3>::new(label, stencils, parameters, rest))
        }
        SpringLaw::Own { name, parameters: own } => {
            let element = format!("soft.{}.springs", body.name);
            let law = registry.spring(name).ok_or_else(|| DynamicsError::UnknownLaw {
                element: element.clone(),
                kind: "spring",
                name: name.clone(),
                known: registry.spring_names().into_iter().map(String::from).collect(),
            })?;
            if own.len() != law.parameters() {
                let (takes, found) = (law.parameters(), own.len());
                let message = format!("the law `{name}` takes {takes} parameters, found {found}");
                return Err(ModelError::Invalid { element, message }.into());
            }
            let mut given = own.iter().map(|&id| leaf(leaves, id));
            let mut next = || given.next().unwrap_or(Parameter::Constant(0.0));
            let parameters = std::array::from_fn(|i| match i {
                0 => damping.clone(),
                1 => rest_length.clone(),
                _ => next(),
            });
            Box::new(RecordedSprings::new(Block::new(label, stencils, parameters, rest), law))
        }
    }))
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
