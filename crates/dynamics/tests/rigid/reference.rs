//! Reading recorded results of MuJoCo: structure and constants from the compiled model, states.

use std::path::{Path, PathBuf};

use costate_dynamics::rigid::collision::unsupported;
use costate_dynamics::rigid::{
    Actuator, BiasKind, Block, Body, ContactPair, DynamicsKind, Equality, EqualityKind, GainKind,
    Geom, GeomKind, Integrator, Joint, JointKind, Layout, Options, Sensor, SensorKind,
    SensorObject, Site, Transmission, Tree,
};
use costate_num::{Mat3, Quat, SymMat3, Vec3};
use serde_json::Value;

/// All numbers in a nested array, in order.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        Value::Null => Vec::new(),
        other => vec![other.as_f64().unwrap_or_else(|| panic!("{other} is no number"))],
    }
}

/// All integers in a nested array, in order.
pub fn integers(value: &Value) -> Vec<i64> {
    match value {
        Value::Array(items) => items.iter().flat_map(integers).collect(),
        Value::Null => Vec::new(),
        other => vec![other.as_i64().unwrap_or_else(|| panic!("{other} is no integer"))],
    }
}

/// One recorded file.
pub struct Reference {
    /// Its name.
    pub name: String,
    /// Its content.
    pub value: Value,
    /// The structure of its compiled model.
    pub tree: Tree,
    /// The layout of the constants.
    pub layout: Layout,
    /// The constants of its compiled model.
    pub c: Vec<f64>,
}

fn folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match std::env::var_os("COSTATE_REFERENCE") {
        Some(folder) => here.join("../..").join(PathBuf::from(folder)).join("mujoco"),
        None => here.join("tests/data/mujoco"),
    }
}

/// All recorded files with a trajectory, from the folder `mujoco` in `COSTATE_REFERENCE` where that is set
/// (a relative folder counts from the workspace), else from the copies kept here.
pub fn all() -> Vec<Reference> {
    let folder = folder();
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
        .filter(|name| name.contains("__"))
        .collect();
    names.sort();
    names.iter().map(|name| load(name)).collect()
}

/// The recorded files in which nothing touches.
pub fn without_contacts() -> Vec<Reference> {
    let mut all = all();
    all.retain(|r| {
        let touching = r.value["snapshot"]["contact"].as_array().is_some_and(|c| !c.is_empty());
        !touching && numbers(&r.value["trajectory"]["ncon"]).iter().all(|&n| n == 0.0)
    });
    all
}

/// The recorded files all contacts of which are simulated.
pub fn simulated() -> Vec<Reference> {
    let mut all = all();
    all.retain(|r| unsupported(&r.tree).is_empty());
    all
}

/// The recorded file of that name.
pub fn load(name: &str) -> Reference {
    let path = folder().join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let tree = tree(&value);
    let layout = Layout::new(&tree);
    let c = constants(&value["compiled"], &tree, &layout);
    Reference { name: name.to_owned(), value, tree, layout, c }
}

impl Reference {
    /// Numbers of the snapshot.
    pub fn snapshot(&self, name: &str) -> Vec<f64> {
        numbers(&self.value["snapshot"][name])
    }
    /// How many constraint rows the snapshot has.
    pub fn rows(&self) -> usize {
        self.snapshot_value("efc")["type"].as_array().map_or(0, Vec::len)
    }
    fn snapshot_value(&self, name: &str) -> &Value {
        &self.value["snapshot"][name]
    }
    /// The scripted control at a time.
    pub fn control(&self, time: f64) -> Vec<f64> {
        let part = |name: &str| numbers(&self.value["ctrl"][name]);
        let (bias, amplitude) = (part("bias"), part("amp"));
        let (frequency, phase) = (part("freq"), part("phase"));
        (0..bias.len())
            .map(|i| {
                let angle = std::f64::consts::TAU * frequency[i] * time + phase[i];
                bias[i] + amplitude[i] * angle.sin()
            })
            .collect()
    }
}

/// Says where two arrays differ by more than `tolerance`, relative to the larger of the largest entry and 1.
#[track_caller]
pub fn compare(what: &str, got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{what}: length");
    let size = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        let error = (g - e).abs() / size;
        assert!(error <= tolerance, "{what}[{i}]: {g} for {e}, error {error:e}");
    }
}

fn index(value: i64) -> usize {
    usize::try_from(value).unwrap_or_else(|_| panic!("{value} is no index"))
}

fn tree(file: &Value) -> Tree {
    let m = &file["compiled"];
    let ints = |name: &str| integers(&m[name]);
    let mut tree = Tree { options: options(file), ..Tree::default() };
    let parents = ints("body_parentid");
    let gravcomp = numbers(&m["body_gravcomp"]);
    for (parent, g) in parents.iter().zip(&gravcomp) {
        let gravity_compensated = *g != 0.0;
        tree.bodies.push(Body { parent: index(*parent), gravity_compensated, ..Body::default() });
    }
    let (bodies, limited) = (ints("jnt_bodyid"), ints("jnt_limited"));
    for (j, kind) in ints("jnt_type").iter().enumerate() {
        let kind =
            [JointKind::Free, JointKind::Ball, JointKind::Slide, JointKind::Hinge][index(*kind)];
        tree.joints.push(Joint {
            kind,
            body: index(bodies[j]),
            qpos: 0,
            dof: 0,
            limited: limited[j] != 0,
            actuator_force_limited: false,
            actuator_gravity_compensation: false,
        });
    }
    tree.index().expect("a compiled model is a tree");
    let site = |b: &i64| Site { body: index(*b), kind: GeomKind::Sphere, size: [0.005; 3] };
    tree.sites = ints("site_bodyid").iter().map(site).collect();
    geoms(m, &mut tree);
    pairs(m, &mut tree);
    actuators(m, &mut tree);
    equalities(m, &mut tree);
    sensors(m, &mut tree);
    tree
}

fn options(file: &Value) -> Options {
    let (o, opt) = (&file["options"], &file["compiled"]["opt"]);
    let flags = opt["disableflags"].as_u64().unwrap_or(0);
    let number = |name: &str, default| o[name].as_f64().unwrap_or(default);
    let count = |name: &str, default| o[name].as_u64().unwrap_or(default) as usize;
    Options {
        timestep: number("timestep", 0.002),
        integrator: integrator(o["integrator"].as_str().unwrap_or("Euler")),
        // mjDSBL_EULERDAMP
        implicit_damping: flags & (1 << 15) == 0,
        elliptic: o["cone"] == "elliptic",
        impedance_ratio: number("impratio", 1.0),
        exact_diagonal: o["diagexact"].as_bool().unwrap_or(false),
        tolerance: number("tolerance", 1e-16),
        iterations: count("iterations", 100),
        line_search_tolerance: number("ls_tolerance", 0.01),
        line_search_iterations: count("ls_iterations", 50),
        ..Options::default()
    }
}

/// An integrator by the name the recordings use.
pub fn integrator(name: &str) -> Integrator {
    match name {
        "Euler" => Integrator::Euler,
        "RK4" => Integrator::Rk4,
        "implicit" => Integrator::Implicit,
        "implicitfast" => Integrator::ImplicitFast,
        "discrete" => Integrator::Discrete,
        other => panic!("no integrator is called {other}"),
    }
}

fn geoms(m: &Value, tree: &mut Tree) {
    let ints = |name: &str| integers(&m[name]);
    let kinds = [
        GeomKind::Plane,
        GeomKind::HeightField,
        GeomKind::Sphere,
        GeomKind::Capsule,
        GeomKind::Ellipsoid,
        GeomKind::Cylinder,
        GeomKind::Box,
        GeomKind::Mesh,
    ];
    let (bodies, condim, priority) =
        (ints("geom_bodyid"), ints("geom_condim"), ints("geom_priority"));
    let (contype, conaffinity) = (ints("geom_contype"), ints("geom_conaffinity"));
    for (g, kind) in ints("geom_type").iter().enumerate() {
        tree.geoms.push(Geom {
            kind: kinds[index(*kind)],
            body: index(bodies[g]),
            condim: condim[g] as u8,
            contype: contype[g] as u32,
            conaffinity: conaffinity[g] as u32,
            priority: priority[g] as i32,
            hull: None,
            field: None,
            ellipsoid: false,
        });
    }
}

fn pairs(m: &Value, tree: &mut Tree) {
    let ints = |name: &str| integers(&m[name]);
    let (first, second, dim) = (ints("pair_geom1"), ints("pair_geom2"), ints("pair_dim"));
    for i in 0..first.len() {
        let geoms = [index(first[i]), index(second[i])];
        tree.pairs.push(ContactPair { geoms, condim: dim[i] as u8 });
    }
}

fn actuators(m: &Value, tree: &mut Tree) {
    let ints = |name: &str| integers(&m[name]);
    let kinds = ints("actuator_trntype");
    let ids: Vec<i64> = ints("actuator_trnid");
    let (dynamics, gains, biases) =
        (ints("actuator_dyntype"), ints("actuator_gaintype"), ints("actuator_biastype"));
    let limited = |name: &str, i: usize| ints(name)[i] != 0;
    for i in 0..kinds.len() {
        let id = index(ids[2 * i]);
        let dynamics = [
            DynamicsKind::None,
            DynamicsKind::Integrator,
            DynamicsKind::Filter,
            DynamicsKind::FilterExact,
            DynamicsKind::Muscle,
        ][index(dynamics[i])];
        let activation = (dynamics != DynamicsKind::None).then(|| {
            tree.na += 1;
            tree.na - 1
        });
        tree.actuators.push(Actuator {
            transmission: match kinds[i] {
                0 => Transmission::Joint(id),
                1 => Transmission::JointInParent(id),
                3 => Transmission::Tendon(id),
                4 => {
                    Transmission::Site { site: id, reference: usize::try_from(ids[2 * i + 1]).ok() }
                }
                other => panic!("transmission {other}"),
            },
            dynamics,
            gain: [GainKind::Fixed, GainKind::Affine, GainKind::Muscle][index(gains[i])],
            bias: [BiasKind::None, BiasKind::Affine, BiasKind::Muscle][index(biases[i])],
            activation,
            early: false,
            control_limited: limited("actuator_ctrllimited", i),
            force_limited: limited("actuator_forcelimited", i),
            activation_limited: limited("actuator_actlimited", i),
        });
    }
}

fn equalities(m: &Value, tree: &mut Tree) {
    let ints = |name: &str| integers(&m[name]);
    let (first, second) = (ints("eq_obj1id"), ints("eq_obj2id"));
    let (objects, active) = (ints("eq_objtype"), ints("eq_active0"));
    for (i, kind) in ints("eq_type").iter().enumerate() {
        let (a, b) = (index(first[i]), second[i]);
        let sites = objects.get(i) == Some(&6);
        let kind = match (kind, sites) {
            (0, false) => EqualityKind::Connect { first: a, second: index(b) },
            (0, true) => EqualityKind::ConnectSites { first: a, second: index(b) },
            (1, false) => EqualityKind::Weld { first: a, second: index(b) },
            (1, true) => EqualityKind::WeldSites { first: a, second: index(b) },
            (2, _) => EqualityKind::Joint { first: a, second: usize::try_from(b).ok() },
            (3, _) => EqualityKind::Tendon { first: a, second: usize::try_from(b).ok() },
            (other, _) => panic!("equality {other}"),
        };
        tree.equalities.push(Equality { kind, active: active.get(i) != Some(&0) });
    }
}

fn sensors(m: &Value, tree: &mut Tree) {
    let ints = |name: &str| integers(&m[name]);
    let (objects, ids) = (ints("sensor_objtype"), ints("sensor_objid"));
    let (starts, lengths) = (ints("sensor_adr"), ints("sensor_dim"));
    for (i, kind) in ints("sensor_type").iter().enumerate() {
        let id = usize::try_from(ids[i]).unwrap_or(0);
        let object = || match objects[i] {
            1 => SensorObject::Body(id),
            2 => SensorObject::BodyFrame(id),
            5 => SensorObject::Geom(id),
            6 => SensorObject::Site(id),
            other => panic!("sensor object {other}"),
        };
        let kind = match kind {
            0 => SensorKind::Touch(id),
            1 => SensorKind::Accelerometer(id),
            2 => SensorKind::Velocimeter(id),
            3 => SensorKind::Gyro(id),
            4 => SensorKind::Force(id),
            5 => SensorKind::Torque(id),
            6 => SensorKind::Magnetometer(id),
            9 => SensorKind::JointPosition(id),
            10 => SensorKind::JointVelocity(id),
            11 => SensorKind::TendonPosition(id),
            12 => SensorKind::TendonVelocity(id),
            13 => SensorKind::ActuatorPosition(id),
            14 => SensorKind::ActuatorVelocity(id),
            15 => SensorKind::ActuatorForce(id),
            16 => SensorKind::JointActuatorForce(id),
            17 => SensorKind::TendonActuatorForce(id),
            18 => SensorKind::BallQuaternion(id),
            19 => SensorKind::BallAngularVelocity(id),
            20 => SensorKind::JointLimitPosition(id),
            21 => SensorKind::JointLimitVelocity(id),
            22 => SensorKind::JointLimitForce(id),
            26 => SensorKind::FramePosition(object(), None),
            27 => SensorKind::FrameQuaternion(object(), None),
            axis @ 28..=30 => SensorKind::FrameAxis(object(), None, (axis - 28) as usize),
            31 => SensorKind::FrameLinearVelocity(object(), None),
            32 => SensorKind::FrameAngularVelocity(object(), None),
            33 => SensorKind::FrameLinearAcceleration(object()),
            34 => SensorKind::FrameAngularAcceleration(object()),
            35 => SensorKind::SubtreeCenter(id),
            36 => SensorKind::SubtreeLinearVelocity(id),
            37 => SensorKind::SubtreeAngularMomentum(id),
            other => panic!("sensor {other}"),
        };
        let start = index(starts[i]);
        tree.sensors.push(Sensor { kind, data: start..start + index(lengths[i]) });
    }
}

/// Inertia tensor in the body's axes from principal moments and the orientation of their axes.
fn tensor(moments: &[f64], quat: &[f64]) -> [f64; 6] {
    let rotation = Quat::new(quat[0], quat[1], quat[2], quat[3]).normalize().to_matrix();
    let diagonal = Mat3::from_diagonal(Vec3::new(moments[0], moments[1], moments[2]));
    SymMat3::from_matrix(rotation.matmul(diagonal).matmul(rotation.transpose())).to_array()
}

fn constants(m: &Value, tree: &Tree, layout: &Layout) -> Vec<f64> {
    let mut c = vec![0.0; layout.len];
    for (name, block) in layout.blocks() {
        let values = numbers(&m[name]);
        if name != "body_inertia" {
            fill(&mut c, block, &values);
        }
    }
    let (moments, quats) = (numbers(&m["body_inertia"]), numbers(&m["body_iquat"]));
    for b in 0..tree.bodies.len() {
        let values = tensor(&moments[3 * b..3 * b + 3], &quats[4 * b..4 * b + 4]);
        c[layout.body_inertia.entry(b)].copy_from_slice(&values);
    }
    c[layout.gravity.range()].copy_from_slice(&numbers(&m["opt"]["gravity"]));
    c[layout.magnetic.range()].copy_from_slice(&[0.0, -0.5, 0.0]);
    c
}

/// Entries of the file may be narrower (parameters cut to the first numbers) or wider than ours.
fn fill(c: &mut [f64], block: Block, values: &[f64]) {
    if block.count == 0 || values.is_empty() {
        return;
    }
    let given = values.len() / block.count;
    for i in 0..block.count {
        let n = given.min(block.width);
        let at = block.at(i);
        c[at..at + n].copy_from_slice(&values[i * given..i * given + n]);
    }
}
