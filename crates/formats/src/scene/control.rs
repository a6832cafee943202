//! Inputs, controllers, drives and friction of a robot's scene.

use std::sync::Arc;

use super::{check_name, locate};
use crate::error::{ErrorKind, Result};
use crate::toml_reader::{Node, Section};
use costate_model::control::{
    ControlInput, Controller, Delay, Drive, Formula, FrictionLaw, JointFriction, Load, Play,
    Stribeck, Symbol,
};
use costate_model::rigid::Articulation;
use costate_model::{Bounds, Leaf, LeafId, Model};

/// Units that an input may have.
const UNITS: [(&str, &str); 12] = [
    ("", ""),
    ("m", "m"),
    ("rad", "rad"),
    ("m/s", "m/s"),
    ("rad/s", "rad/s"),
    ("m/s^2", "m/s^2"),
    ("rad/s^2", "rad/s^2"),
    ("N", "N"),
    ("N m", "N m"),
    ("V", "V"),
    ("A", "A"),
    ("s", "s"),
];

/// Reads the tables `input`, `controller`, `drive` and `friction`.
pub(super) fn read(root: &Section<'_>, model: &mut Model) -> Result<()> {
    for (name, node) in root.entries("input")? {
        check_name(&name, &node)?;
        let input = node.section()?;
        let unit = input.or("unit", "", |n| n.choice(&UNITS))?;
        input.finish()?;
        model.control.inputs.push(ControlInput { name, unit });
    }
    // Formulas may read the rotors of drives, which are all known before the first formula is read.
    let drives = root.entries("drive")?;
    let names: Vec<String> = drives.iter().map(|(name, _)| name.clone()).collect();
    for (name, node) in root.entries("controller")? {
        check_name(&name, &node)?;
        let controller =
            Reader::new(&node.section()?, "controller", &name, model, &names)?.controller()?;
        model.control.controllers.push(controller);
    }
    for (name, node) in drives {
        check_name(&name, &node)?;
        let drive = Reader::new(&node.section()?, "drive", &name, model, &names)?.drive()?;
        model.control.drives.push(drive);
    }
    for (name, node) in root.entries("friction")? {
        check_name(&name, &node)?;
        let friction =
            Reader::new(&node.section()?, "friction", &name, model, &names)?.friction()?;
        model.control.frictions.push(friction);
    }
    Ok(())
}

/// One table.
struct Reader<'a, 'm> {
    section: &'a Section<'a>,
    kind: &'static str,
    name: &'a str,
    model: &'m mut Model,
    drives: &'a [String],
    gains: Vec<(String, LeafId)>,
    signals: Vec<(String, Formula)>,
}

impl<'a, 'm> Reader<'a, 'm> {
    fn new(
        section: &'a Section<'a>,
        kind: &'static str,
        name: &'a str,
        model: &'m mut Model,
        drives: &'a [String],
    ) -> Result<Self> {
        let mut reader =
            Self { section, kind, name, model, drives, gains: Vec::new(), signals: Vec::new() };
        if kind != "friction" {
            reader.names()?;
        }
        Ok(reader)
    }

    /// Gains and signals, the names that formulas of the table know.
    fn names(&mut self) -> Result<()> {
        for (name, node) in self.section.entries("gains")? {
            check_name(&name, &node)?;
            let value = node.number()?;
            let id = self.add(&name, value, "", Bounds::ANY, "gain of the law")?;
            self.gains.push((name, id));
        }
        for (name, node) in self.section.entries("signals")? {
            check_name(&name, &node)?;
            let formula = Formula::Shared(Arc::new(self.formula(&node)?));
            self.signals.push((name, formula));
        }
        Ok(())
    }

    fn add(
        &mut self,
        name: &str,
        value: f64,
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Result<LeafId> {
        let path = format!("{}.{}.{name}", self.kind, self.name);
        let leaf = Leaf::scalar(path, value, unit, bounds, about);
        let file = self.section.file();
        self.model.leaves.add(leaf).map_err(|e| locate::translate(file, e))
    }

    /// A number that must be there.
    fn leaf(
        &mut self,
        section: &Section<'_>,
        prefix: &str,
        key: &str,
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Result<LeafId> {
        let value = section.req(key, Node::number)?;
        self.add(&format!("{prefix}{key}"), value, unit, bounds, about)
    }

    /// A number of the table that may be there.
    fn optional(
        &mut self,
        key: &str,
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Result<Option<LeafId>> {
        let value = self.section.opt(key, Node::number)?;
        value.map(|value| self.add(key, value, unit, bounds, about)).transpose()
    }

    fn articulation(&self) -> Result<&Articulation> {
        self.model
            .articulation
            .as_ref()
            .ok_or_else(|| self.section.error(ErrorKind::Missing).expected("a robot"))
    }

    fn joint(&self) -> Result<usize> {
        self.section.req("joint", |node| {
            let name = node.string()?;
            let a = self.articulation()?;
            a.joint(name)
                .ok_or_else(|| node.unknown_name("a joint", a.joints.iter().map(|j| &*j.name)))
        })
    }

    fn actuator(&self, node: &Node<'_>) -> Result<usize> {
        let name = node.string()?;
        let a = self.articulation()?;
        let found = a.actuator(name).ok_or_else(|| {
            node.unknown_name("an actuator", a.actuators.iter().map(|x| &*x.name))
        })?;
        if self.model.control.commands(found) {
            return Err(node
                .error(ErrorKind::Conflict)
                .expected("one controller or drive for an actuator")
                .found(format!("a second one for `{name}`")));
        }
        Ok(found)
    }

    /// What a name in a formula stands for.
    fn resolve(&self, name: &str) -> Option<Formula> {
        if let Some((_, formula)) = self.signals.iter().find(|(known, _)| known == name) {
            return Some(formula.clone());
        }
        if let Some((_, id)) = self.gains.iter().find(|(known, _)| known == name) {
            return Some(Formula::Symbol(Symbol::Leaf(*id)));
        }
        let symbol = match name {
            "time" => Symbol::Time,
            "sample_time" => Symbol::SampleTime,
            _ => {
                let (kind, rest) = name.split_once('.')?;
                let split = || rest.rsplit_once('.');
                let control = &self.model.control;
                match kind {
                    "input" => Symbol::Input(control.input(rest)?),
                    "controller" => Symbol::Controller(control.controller(rest)?),
                    "joint" => {
                        let (joint, what) = split()?;
                        let a = self.model.articulation.as_ref()?;
                        let joint = a.joint(joint).filter(|&j| a.joints[j].kind.is_scalar())?;
                        match what {
                            "position" => Symbol::Position(joint),
                            "velocity" => Symbol::Velocity(joint),
                            _ => return None,
                        }
                    }
                    "drive" => {
                        let (drive, what) = split()?;
                        let drive = self.drives.iter().position(|known| known == drive)?;
                        match what {
                            "position" => Symbol::RotorPosition(drive),
                            "velocity" => Symbol::RotorVelocity(drive),
                            _ => return None,
                        }
                    }
                    _ => return None,
                }
            }
        };
        Some(Formula::Symbol(symbol))
    }

    fn formula(&self, node: &Node<'_>) -> Result<Formula> {
        if node.is_number() {
            return Ok(Formula::Number(node.number()?));
        }
        self.parse(node, node.string()?)
    }

    fn parse(&self, node: &Node<'_>, text: &str) -> Result<Formula> {
        Formula::parse(text, &|name| self.resolve(name)).map_err(|error| {
            node.error(ErrorKind::Syntax).expected("a formula").found(error.to_string()).advice(
                "names are gains and signals of this table, time, sample_time, input.NAME, \
                 joint.NAME.position, joint.NAME.velocity (slides and hinges), drive.NAME.position, \
                 drive.NAME.velocity, and controller.NAME of those above",
            )
        })
    }

    fn delay(&mut self) -> Result<Option<Delay>> {
        if !self.section.has("delay") && !self.section.has("max_delay") {
            return Ok(None);
        }
        let value = self.section.or("delay", 0.0, Node::non_negative)?;
        let longest = self.section.or("max_delay", 2.0 * value, Node::positive)?;
        let bounds = Bounds { lower: 0.0, upper: longest, ..Bounds::ANY };
        let leaf = self.add("delay", value, "s", bounds, "how late it arrives")?;
        Ok(Some(Delay { leaf, longest }))
    }

    fn controller(mut self) -> Result<Controller> {
        let kinds = [("law", "law"), ("pd", "pd"), ("cascade", "cascade")];
        let kind = self.section.or("type", "law", |n| n.choice(&kinds))?;
        let law = match kind {
            "pd" => self.pd()?,
            "cascade" => self.cascade()?,
            _ => self.section.req("law", |node| self.formula(node))?,
        };
        let sample_time = self.section.opt("sample_time", Node::positive)?;
        let delay = self.delay()?;
        let actuator = self.section.opt("actuator", |node| self.actuator(node))?;
        self.section.finish()?;
        Ok(Controller { name: self.name.into(), law, sample_time, delay, actuator })
    }

    /// Gains of a ready-made law under their names; a limit that is not there does not limit.
    fn gain(&mut self, key: &str, unit: &'static str, default: Option<f64>) -> Result<bool> {
        let given = self.section.opt(key, Node::number)?;
        let Some(value) = given.or(default) else { return Ok(false) };
        let id = self.add(key, value, unit, Bounds::ANY, "gain of the law")?;
        self.gains.push((key.into(), id));
        Ok(true)
    }

    fn target(&mut self) -> Result<()> {
        let joint = self.joint()?;
        let target = self.section.req("target", |node| self.formula(node))?;
        for (name, formula) in [
            ("target", target),
            ("position", Formula::Symbol(Symbol::Position(joint))),
            ("velocity", Formula::Symbol(Symbol::Velocity(joint))),
        ] {
            self.signals.push((name.into(), formula));
        }
        Ok(())
    }

    fn ready_made(&self, text: &str, limited: bool) -> Result<Formula> {
        let limit = if limited { format!("clip({text}, -limit, limit)") } else { text.to_owned() };
        self.section.req("joint", |node| self.parse(node, &limit))
    }

    fn required(&mut self, key: &str) -> Result<()> {
        if self.gain(key, "", None)? { Ok(()) } else { Err(self.section.missing(key)) }
    }

    fn pd(&mut self) -> Result<Formula> {
        self.target()?;
        self.required("kp")?;
        self.gain("kd", "", Some(0.0))?;
        let limited = self.gain("limit", "", None)?;
        self.ready_made("kp * (target - position) - kd * velocity", limited)
    }

    fn cascade(&mut self) -> Result<Formula> {
        self.target()?;
        self.required("kp")?;
        self.required("kv")?;
        let integral = self.gain("ki", "", None)?;
        let speed = "kp * (target - position)";
        let mut speed = speed.to_owned();
        if self.gain("speed_limit", "", None)? {
            speed = format!("clip({speed}, -speed_limit, speed_limit)");
        }
        let error = format!("({speed} - velocity)");
        let limited = self.gain("limit", "", None)?;
        let law = match (integral, limited) {
            (false, _) => format!("kv * {error}"),
            (true, false) => format!("kv * {error} + ki * integral({error})"),
            // What lies beyond the limit is not integrated.
            (true, true) => {
                format!("kv * {error} + ki * integral(if(abs(kv * {error}) < limit, {error}, 0))")
            }
        };
        self.ready_made(&law, limited)
    }

    fn drive(mut self) -> Result<Drive> {
        let section = self.section;
        let actuator = section.req("actuator", |node| self.actuator(node))?;
        let voltage = section.req("voltage", |node| self.formula(node))?;
        let enabled = section.opt("enabled", |node| self.formula(node))?;
        let about = "torque per current";
        let torque_constant =
            self.leaf(section, "", "torque_constant", "N m/A", Bounds::ANY, about)?;
        let about = "resistance of the windings";
        let resistance = self.leaf(section, "", "resistance", "ohm", Bounds::POSITIVE, about)?;
        let about = "voltage per velocity";
        let back_emf = self.optional("back_emf", "V s/rad", Bounds::NON_NEGATIVE, about)?;
        let delay = self.delay()?;
        let play = match section.section("play")? {
            None => None,
            Some(play) => {
                let mut part = |key: &str, bounds: Bounds, about: &str| {
                    self.leaf(&play, "play.", key, "", bounds, about)
                };
                let out = Play {
                    width: part("width", Bounds::NON_NEGATIVE, "width of the gap")?,
                    inertia: part("inertia", Bounds::POSITIVE, "inertia of the rotor")?,
                    stiffness: part("stiffness", Bounds::POSITIVE, "stiffness at the ends")?,
                    damping: part("damping", Bounds::NON_NEGATIVE, "damping at the ends")?,
                };
                play.finish()?;
                Some(out)
            }
        };
        section.finish()?;
        let name = self.name.into();
        Ok(Drive {
            name,
            actuator,
            voltage,
            enabled,
            torque_constant,
            resistance,
            back_emf,
            delay,
            play,
        })
    }

    fn stribeck(&mut self, section: &Section<'_>, prefix: &str) -> Result<Stribeck> {
        let about = "friction at zero velocity beyond that of motion";
        let extra = self.leaf(section, prefix, "extra", "", Bounds::NON_NEGATIVE, about)?;
        let about = "velocity over which it falls";
        let velocity = self.leaf(section, prefix, "velocity", "", Bounds::POSITIVE, about)?;
        Ok(Stribeck { extra, velocity })
    }

    fn friction(mut self) -> Result<JointFriction> {
        let section = self.section;
        let joint = self.joint()?;
        let kinds = [("dry", "dry"), ("lugre", "lugre"), ("formula", "formula")];
        let law = section.or("law", "dry", |n| n.choice(&kinds))?;
        if law == "formula" {
            return self.friction_formula(joint);
        }
        let stribeck = match section.section("stribeck")? {
            None => None,
            Some(table) => {
                let stribeck = self.stribeck(&table, "stribeck.")?;
                table.finish()?;
                Some(stribeck)
            }
        };
        let bounds = Bounds::NON_NEGATIVE;
        let (dry, viscous) = ("dry friction", "viscous friction");
        let law = if law == "lugre" {
            let positive = Bounds::POSITIVE;
            FrictionLaw::LuGre {
                stiffness: self.leaf(section, "", "stiffness", "", positive, "of the bristles")?,
                damping: self.leaf(section, "", "damping", "", bounds, "of the bristles")?,
                viscous: self.leaf(section, "", "viscous", "", bounds, viscous)?,
                dry: self.leaf(section, "", "dry", "", positive, dry)?,
                stribeck,
            }
        } else {
            let dry = self.optional("dry", "", bounds, dry)?;
            let viscous = self.optional("viscous", "", bounds, viscous)?;
            let load = section.section("load")?.map(|table| self.load(&table)).transpose()?;
            FrictionLaw::Dry { dry, viscous, stribeck, load }
        };
        section.finish()?;
        Ok(JointFriction { name: self.name.into(), joint, law })
    }

    /// A law of the user's own.
    fn friction_formula(mut self, joint: usize) -> Result<JointFriction> {
        for (name, symbol) in [
            ("position", Symbol::Position(joint)),
            ("velocity", Symbol::Velocity(joint)),
            ("motor", Symbol::MotorForce(joint)),
            ("external", Symbol::ExternalForce(joint)),
        ] {
            self.signals.push((name.into(), Formula::Symbol(symbol)));
        }
        self.names()?;
        let section = self.section;
        let dry = section.opt("dry", |node| self.formula(node))?;
        let viscous = section.opt("viscous", |node| self.formula(node))?;
        if dry.is_none() && viscous.is_none() {
            return Err(section.missing("dry").advice("a formula for dry or viscous friction"));
        }
        section.finish()?;
        let law = FrictionLaw::Formula { dry, viscous };
        Ok(JointFriction { name: self.name.into(), joint, law })
    }

    fn load(&mut self, table: &Section<'_>) -> Result<Load> {
        let about = "friction per torque";
        let coefficient =
            self.leaf(table, "load.", "coefficient", "", Bounds::NON_NEGATIVE, about)?;
        let stribeck = match table.has("extra") || table.has("velocity") {
            true => Some(self.stribeck(table, "load.")?),
            false => None,
        };
        let external =
            table.or("torque", false, |n| n.choice(&[("motor", false), ("gear", true)]))?;
        table.finish()?;
        Ok(Load { coefficient, stribeck, external })
    }
}
