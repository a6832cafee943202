//! `actuator`.

use super::attributes::Reader;
use super::build::Builder;
use super::limited::Limited;
use crate::error::{ErrorKind, Result};
use costate_model::rigid::{
    ActuatorSettings, BiasLaw, DynamicsLaw, GainLaw, LawSettings, MuscleSettings, ServoDamping,
    Transmission,
};
use std::collections::BTreeMap;

/// The numbers of one way to write an actuator.
#[derive(Clone, Debug)]
struct Law {
    kp: f64,
    kv: f64,
    dampratio: Option<f64>,
    timeconst: f64,
    area: f64,
    diameter: Option<f64>,
    bias: [f64; 3],
    inheritrange: f64,
    muscle: MuscleSettings,
    dynamics: DynamicsLaw,
    gain: GainLaw,
    bias_law: BiasLaw,
    dynprm: [f64; 10],
    gainprm: [f64; 10],
    biasprm: [f64; 10],
    early: bool,
    /// What of it is not simulated.
    foreign: Option<&'static str>,
}

impl Law {
    fn new(tag: &str) -> Self {
        let mut first = [0.0; 10];
        first[0] = 1.0;
        Self {
            kp: 1.0,
            kv: if matches!(tag, "velocity" | "damper") { 1.0 } else { 0.0 },
            dampratio: None,
            timeconst: if tag == "cylinder" { 1.0 } else { 0.0 },
            area: 1.0,
            diameter: None,
            bias: [0.0; 3],
            inheritrange: 0.0,
            muscle: MuscleSettings::default(),
            dynamics: DynamicsLaw::None,
            gain: GainLaw::Fixed,
            bias_law: BiasLaw::None,
            dynprm: first,
            gainprm: first,
            biasprm: [0.0; 10],
            early: false,
            foreign: None,
        }
    }

    fn read(&mut self, r: &Reader<'_>) -> Result<()> {
        r.set_number("kp", &mut self.kp)?;
        if let Some(kv) = r.number("kv")? {
            self.kv = kv;
            self.dampratio = None;
        }
        if let Some(ratio) = r.number("dampratio")? {
            if r.has("kv") {
                return Err(r
                    .wrong("dampratio", ErrorKind::Conflict)
                    .expected("either kv or dampratio"));
            }
            self.dampratio = Some(ratio);
            self.kv = 0.0;
        }
        if r.tag() == "muscle" {
            r.set("timeconst", &mut self.muscle.timeconst)?;
        } else {
            r.set_number("timeconst", &mut self.timeconst)?;
        }
        r.set_number("area", &mut self.area)?;
        if let Some(diameter) = r.number("diameter")? {
            self.diameter = Some(diameter);
        }
        r.set("bias", &mut self.bias)?;
        r.set_number("inheritrange", &mut self.inheritrange)?;
        let m = &mut self.muscle;
        r.set_number("tausmooth", &mut m.tausmooth)?;
        r.set("range", &mut m.range)?;
        for (name, into) in [
            ("force", &mut m.force),
            ("scale", &mut m.scale),
            ("lmin", &mut m.lmin),
            ("lmax", &mut m.lmax),
            ("vmax", &mut m.vmax),
            ("fpmax", &mut m.fpmax),
            ("fvmax", &mut m.fvmax),
        ] {
            r.set_number(name, into)?;
        }
        self.read_general(r)
    }

    fn read_general(&mut self, r: &Reader<'_>) -> Result<()> {
        let words = [
            ("none", Some(DynamicsLaw::None)),
            ("integrator", Some(DynamicsLaw::Integrator)),
            ("filter", Some(DynamicsLaw::Filter)),
            ("filterexact", Some(DynamicsLaw::FilterExact)),
            ("muscle", Some(DynamicsLaw::Muscle)),
            ("pid", None),
            ("dcmotor", None),
            ("user", None),
        ];
        const FOREIGN: &str = "a law of actuators that is not simulated";
        if let Some(law) = r.choice("dyntype", &words)? {
            match law {
                Some(law) => self.dynamics = law,
                None => self.foreign = Some(FOREIGN),
            }
        }
        let words = [
            ("fixed", Some(GainLaw::Fixed)),
            ("affine", Some(GainLaw::Affine)),
            ("muscle", Some(GainLaw::Muscle)),
            ("dcmotor", None),
            ("pid", None),
            ("so3", None),
            ("user", None),
        ];
        if let Some(law) = r.choice("gaintype", &words)? {
            match law {
                Some(law) => self.gain = law,
                None => self.foreign = Some(FOREIGN),
            }
        }
        let words = [
            ("none", Some(BiasLaw::None)),
            ("affine", Some(BiasLaw::Affine)),
            ("muscle", Some(BiasLaw::Muscle)),
            ("dcmotor", None),
            ("so3", None),
            ("user", None),
        ];
        if let Some(law) = r.choice("biastype", &words)? {
            match law {
                Some(law) => self.bias_law = law,
                None => self.foreign = Some(FOREIGN),
            }
        }
        r.fill("dynprm", 1, &mut self.dynprm)?;
        r.fill("gainprm", 1, &mut self.gainprm)?;
        r.fill("biasprm", 1, &mut self.biasprm)?;
        if let Some(early) = r.flag("actearly")? {
            self.early = early;
        }
        if r.integer("actdim")?.is_some_and(|n| n > 1) {
            self.foreign = Some("activations of more than one number");
        }
        Ok(())
    }

    fn damping(&self) -> ServoDamping<f64> {
        match self.dampratio {
            Some(ratio) => ServoDamping::Ratio(ratio),
            None => ServoDamping::Kv(self.kv),
        }
    }

    fn settings(&self, r: &Reader<'_>) -> Result<LawSettings> {
        let not_negative = |name: &str, x: f64| {
            if x >= 0.0 {
                return Ok(());
            }
            Err(r.wrong(name, ErrorKind::OutOfBounds).expected(format!("{name} of 0 or more")))
        };
        Ok(match r.tag() {
            "motor" => LawSettings::Motor,
            "position" => {
                not_negative("kp", self.kp)?;
                not_negative("kv", self.kv)?;
                let timeconst = self.timeconst;
                LawSettings::Position { kp: self.kp, damping: self.damping(), timeconst }
            }
            "velocity" => LawSettings::Velocity { kv: self.kv },
            "intvelocity" => LawSettings::IntVelocity { kp: self.kp, damping: self.damping() },
            "damper" => LawSettings::Damper { kv: self.kv },
            "cylinder" => LawSettings::Cylinder {
                timeconst: self.timeconst,
                area: self.area,
                diameter: self.diameter,
                bias: self.bias,
            },
            "muscle" => LawSettings::Muscle(self.muscle),
            _ => LawSettings::General {
                dynamics: self.dynamics,
                dynprm: self.dynprm,
                gain: self.gain,
                gainprm: self.gainprm,
                bias: self.bias_law,
                biasprm: self.biasprm,
            },
        })
    }
}

/// An actuator of a default class: what all ways to write one share, and the numbers of each way.
#[derive(Clone, Debug, Default)]
pub(super) struct ActuatorClass {
    settings: ActuatorSettings,
    control: Limited,
    force: Limited,
    activation: Limited,
    length: [f64; 2],
    delay: f64,
    laws: BTreeMap<String, Law>,
}

impl ActuatorClass {
    pub fn read(&mut self, r: &Reader<'_>) -> Result<()> {
        let s = &mut self.settings;
        r.fill("gear", 1, &mut s.gear)?;
        r.fill("damping", 1, &mut s.damping)?;
        r.set_number("armature", &mut s.armature)?;
        r.set_number("cranklength", &mut s.crank_length)?;
        if let Some(group) = r.small("group")? {
            s.group = group;
        }
        self.control.read(r, "ctrlrange", "ctrllimited")?;
        self.force.read(r, "forcerange", "forcelimited")?;
        self.activation.read(r, "actrange", "actlimited")?;
        r.set("lengthrange", &mut self.length)?;
        r.set_number("delay", &mut self.delay)?;
        let tag = r.tag();
        self.laws.entry(tag.to_owned()).or_insert_with(|| Law::new(tag)).read(r)
    }
}

/// Ways to write actuators whose law is not simulated.
const FOREIGN: [(&str, &str); 5] = [
    ("orientation", "servos of orientation"),
    ("pid", "PID servos"),
    ("adhesion", "actuators that stick to what they touch"),
    ("dcmotor", "electric motors with their own law"),
    ("plugin", "a plugin of MuJoCo"),
];

/// Adds a child of `actuator`.
pub(super) fn add(b: &mut Builder<'_>, r: &Reader<'_>, suffix: &str) -> Result<()> {
    if let Some((name, about)) = FOREIGN.iter().find(|(name, _)| *name == r.tag()) {
        b.unsupported(r, name, about);
        b.skipped_actuators += 1;
        return Ok(());
    }
    let mut actuator = b.class(r, "")?.actuator.clone();
    actuator.read(r)?;
    let law = actuator.laws.get(r.tag()).cloned().unwrap_or_else(|| Law::new(r.tag()));
    let leave_out = |b: &mut Builder<'_>, name: &str, about: &str| {
        b.unsupported(r, name, about);
        b.skipped_actuators += 1;
    };
    if let Some(about) = law.foreign {
        leave_out(b, "actuator", about);
        return Ok(());
    }
    if actuator.delay > 0.0 {
        b.unsupported(r, "delay", "delays of controls");
    }
    let Some(transmission) = transmission(b, r, suffix)? else {
        leave_out(b, "adhesion", "actuators that stick to what they touch");
        return Ok(());
    };
    let compiler = &b.compiler;
    let mut control = actuator.control.in_force(r, compiler, "ctrlrange", "ctrllimited")?;
    let mut activation = actuator.activation.in_force(r, compiler, "actrange", "actlimited")?;
    let force = actuator.force.in_force(r, compiler, "forcerange", "forcelimited")?;
    if law.inheritrange > 0.0 {
        let range = inherited(b, r, transmission, law.inheritrange)?;
        match r.tag() {
            "intvelocity" => activation = activation.or(Some(range)),
            _ => control = control.or(Some(range)),
        }
    }
    let settings_law = law.settings(r)?;
    if r.tag() == "damper" && control.is_none_or(|[low, _]| low < 0.0) {
        return Err(r
            .wrong("ctrlrange", ErrorKind::OutOfBounds)
            .expected("a ctrlrange of numbers that are not negative, for a damper"));
    }
    let length = match transmission {
        _ if actuator.length[0] < actuator.length[1] => Some(actuator.length),
        Transmission::Joint { joint, .. } if compiler.length_from_limit => {
            let joint = &b.articulation.joints[joint];
            joint.limited.then(|| b.pair_of(joint.range))
        }
        Transmission::Tendon { tendon } if compiler.length_from_limit => {
            let tendon = &b.articulation.tendons[tendon];
            tendon.limited.then(|| b.pair_of(tendon.range))
        }
        _ => None,
    };
    let name = b.name(r, "actuator", suffix, b.articulation.actuators.len());
    let settings = ActuatorSettings {
        name,
        law: settings_law,
        control_range: control,
        force_range: force,
        activation_range: activation,
        length_range: length,
        early: law.early,
        ..actuator.settings
    };
    b.articulation
        .add_actuator(&mut b.model.leaves, transmission, &settings)
        .map(|_| ())
        .map_err(|e| r.refused(e))
}

/// What an actuator pulls at; none where that is not simulated.
fn transmission(b: &Builder<'_>, r: &Reader<'_>, suffix: &str) -> Result<Option<Transmission>> {
    let kinds = ["joint", "jointinparent", "tendon", "site", "cranksite", "body"];
    let mut given = kinds.into_iter().filter(|k| r.has(k));
    let Some(kind) = given.next() else {
        return Err(r
            .error(ErrorKind::Missing)
            .expected("one of joint, jointinparent, tendon, site, cranksite"));
    };
    if let Some(second) = given.next() {
        return Err(r
            .wrong(second, ErrorKind::Conflict)
            .expected("one transmission")
            .found(format!("{kind} and {second}")));
    }
    Ok(match kind {
        "joint" | "jointinparent" => Some(Transmission::Joint {
            joint: b.joint(r, kind, suffix)?,
            in_parent: kind == "jointinparent",
        }),
        "tendon" => Some(Transmission::Tendon { tendon: b.tendon(r, kind, suffix)? }),
        "site" => Some(Transmission::Site {
            site: b.site(r, kind, suffix)?,
            reference: if r.has("refsite") { Some(b.site(r, "refsite", suffix)?) } else { None },
        }),
        "cranksite" => {
            if !r.has("slidersite") {
                return Err(r
                    .error(ErrorKind::Missing)
                    .expected("the attribute slidersite beside cranksite"));
            }
            Some(Transmission::SliderCrank {
                crank: b.site(r, "cranksite", suffix)?,
                slider: b.site(r, "slidersite", suffix)?,
            })
        }
        _ => None,
    })
}

/// The range of a joint or tendon, `factor` times as wide about its middle.
fn inherited(
    b: &Builder<'_>,
    r: &Reader<'_>,
    transmission: Transmission,
    factor: f64,
) -> Result<[f64; 2]> {
    let range = match transmission {
        Transmission::Joint { joint, .. } => {
            let joint = &b.articulation.joints[joint];
            joint.limited.then(|| b.pair_of(joint.range))
        }
        Transmission::Tendon { tendon } => {
            let tendon = &b.articulation.tendons[tendon];
            tendon.limited.then(|| b.pair_of(tendon.range))
        }
        Transmission::Site { .. } | Transmission::SliderCrank { .. } => None,
    };
    let [low, high] = range.ok_or_else(|| {
        r.wrong("inheritrange", ErrorKind::Conflict).expected("a joint or tendon that has a range")
    })?;
    let (middle, half) = ((low + high) / 2.0, factor * (high - low) / 2.0);
    Ok([middle - half, middle + half])
}
