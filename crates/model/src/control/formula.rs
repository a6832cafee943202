//! Formulas of signals, as a user writes them.
//!
//! `clip(kp * (input.target - joint.arm.position), -limit, limit)`: numbers, names with dots,
//! `+ - * / ^` (whole powers), comparisons (1 where they hold, else 0), and the functions of
//! [`FUNCTIONS`].

use std::fmt;
use std::sync::Arc;

/// What a name in a formula stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Symbol {
    /// A leaf of the model: a gain.
    Leaf(crate::LeafId),
    /// Position of a slide (m) or hinge (rad), by the place of the joint in the articulation.
    Position(usize),
    /// Its velocity.
    Velocity(usize),
    /// An input of the control, by its place.
    Input(usize),
    /// The output of a controller, by its place.
    Controller(usize),
    /// Position of a drive's rotor at the joint, in the joint's unit: apart from the joint where
    /// the drive has play.
    RotorPosition(usize),
    /// Its velocity.
    RotorVelocity(usize),
    /// Force or torque of all motors on a slide or hinge, with what drives brake. Laws of friction read it.
    MotorForce(usize),
    /// Gravity and inertial forces of motion on a slide or hinge.
    ExternalForce(usize),
    /// Time, s.
    Time,
    /// Time between two ticks of the controller that reads it, s.
    SampleTime,
}

/// Functions and operators of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// −x.
    Neg,
    /// `sin(x)`.
    Sin,
    /// `cos(x)`.
    Cos,
    /// `tanh(x)`.
    Tanh,
    /// `exp(x)`.
    Exp,
    /// `log(x)`, natural.
    Log,
    /// `sqrt(x)`.
    Sqrt,
    /// `abs(x)`.
    Abs,
    /// `sign(x)`: −1, 0 or 1.
    Sign,
    /// `integral(x)`: Σ x · sample time over the ticks before this one.
    Integral,
}

/// Functions and operators of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// `atan2(y, x)`.
    Atan2,
    /// `min(a, b)`.
    Min,
    /// `max(a, b)`.
    Max,
    /// a < b.
    Less,
    /// a <= b.
    LessEqual,
}

/// A formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number.
    Number(f64),
    /// A name.
    Symbol(Symbol),
    /// Function of one number.
    Unary(Unary, Box<Self>),
    /// Function of two numbers.
    Binary(Binary, Box<Self>, Box<Self>),
    /// A whole power.
    Power(Box<Self>, i32),
    /// `if(condition, a, b)`: a where the condition is not zero.
    If(Box<Self>, Box<Self>, Box<Self>),
    /// `previous(x, n)`: x as it was n ticks ago; as it was at the first tick before there were so many.
    Previous(Box<Self>, usize),
    /// A formula with a name, which is computed once however often it is read.
    Shared(Arc<Self>),
}

/// The functions that formulas know, with the number of their arguments.
pub const FUNCTIONS: [(&str, usize); 15] = [
    ("sin", 1),
    ("cos", 1),
    ("tanh", 1),
    ("exp", 1),
    ("log", 1),
    ("sqrt", 1),
    ("abs", 1),
    ("sign", 1),
    ("integral", 1),
    ("atan2", 2),
    ("min", 2),
    ("max", 2),
    ("previous", 2),
    ("clip", 3),
    ("if", 3),
];

/// Deepest nesting of a formula: deeper ones are mistakes or attacks.
const DEPTH: usize = 64;
/// Most ticks that `previous` looks back.
const LONGEST_MEMORY: f64 = 1000.0;

/// What is wrong with a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// Where, in characters from the start of the formula.
    pub at: usize,
    /// What.
    pub message: String,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at character {}: {}", self.at + 1, self.message)
    }
}

impl std::error::Error for FormulaError {}

/// Gives the formula that a name stands for.
pub type Resolve<'a> = dyn Fn(&str) -> Option<Formula> + 'a;

impl Formula {
    /// Reads a formula; `resolve` knows the names.
    ///
    /// # Errors
    /// What is not a formula, with its place; an unknown name.
    pub fn parse(text: &str, resolve: &Resolve) -> Result<Self, FormulaError> {
        let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0, resolve };
        let formula = parser.comparison()?;
        parser.space();
        if parser.at < parser.text.len() {
            return Err(parser.error("an operator or the end is expected here"));
        }
        Ok(formula)
    }

    /// Calls `visit` for it and every formula within.
    pub fn visit(&self, visit: &mut dyn FnMut(&Self)) {
        visit(self);
        match self {
            Self::Number(_) | Self::Symbol(_) => {}
            Self::Shared(x) => x.visit(visit),
            Self::Unary(_, x) | Self::Power(x, _) | Self::Previous(x, _) => x.visit(visit),
            Self::Binary(_, a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
            Self::If(a, b, c) => {
                a.visit(visit);
                b.visit(visit);
                c.visit(visit);
            }
        }
    }

    /// a and b under an operator.
    fn binary(op: Binary, a: Self, b: Self) -> Self {
        Self::Binary(op, Box::new(a), Box::new(b))
    }
}

struct Parser<'a> {
    text: Vec<char>,
    at: usize,
    depth: usize,
    resolve: &'a Resolve<'a>,
}

impl Parser<'_> {
    fn error(&self, message: impl Into<String>) -> FormulaError {
        FormulaError { at: self.at, message: message.into() }
    }

    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.space();
        self.text.get(self.at).copied()
    }

    fn take(&mut self, c: char) -> bool {
        let there = self.peek() == Some(c);
        self.at += usize::from(there);
        there
    }

    fn comparison(&mut self) -> Result<Formula, FormulaError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(format!("more than {DEPTH} levels of brackets")));
        }
        let a = self.sum()?;
        let out = match self.peek() {
            Some(c @ ('<' | '>')) => {
                self.at += 1;
                let equal = self.text.get(self.at) == Some(&'=');
                self.at += usize::from(equal);
                let op = if equal { Binary::LessEqual } else { Binary::Less };
                let b = self.sum()?;
                if c == '<' { Formula::binary(op, a, b) } else { Formula::binary(op, b, a) }
            }
            _ => a,
        };
        self.depth -= 1;
        Ok(out)
    }

    fn sum(&mut self) -> Result<Formula, FormulaError> {
        let mut a = self.product()?;
        loop {
            let op = match self.peek() {
                Some('+') => Binary::Add,
                Some('-') => Binary::Sub,
                _ => return Ok(a),
            };
            self.at += 1;
            a = Formula::binary(op, a, self.product()?);
        }
    }

    fn product(&mut self) -> Result<Formula, FormulaError> {
        let mut a = self.signed()?;
        loop {
            let op = match self.peek() {
                Some('*') => Binary::Mul,
                Some('/') => Binary::Div,
                _ => return Ok(a),
            };
            self.at += 1;
            a = Formula::binary(op, a, self.signed()?);
        }
    }

    fn signed(&mut self) -> Result<Formula, FormulaError> {
        let mut negative = false;
        loop {
            if self.take('-') {
                negative = !negative;
            } else if !self.take('+') {
                break;
            }
        }
        let mut x = self.atom()?;
        if self.take('^') {
            let at = self.at;
            let negative = self.take('-');
            let exponent = self.number()?;
            if exponent.fract() != 0.0 || exponent > 64.0 {
                return Err(FormulaError {
                    at,
                    message: "a whole exponent is expected; write exp(a * log(x)) for others"
                        .into(),
                });
            }
            let exponent = exponent as i32;
            x = Formula::Power(Box::new(x), if negative { -exponent } else { exponent });
        }
        Ok(if negative { Formula::Unary(Unary::Neg, Box::new(x)) } else { x })
    }

    fn number(&mut self) -> Result<f64, FormulaError> {
        self.space();
        let start = self.at;
        while let Some(&c) = self.text.get(self.at) {
            let exponent_sign = (c == '+' || c == '-')
                && self.at > start
                && matches!(self.text[self.at - 1], 'e' | 'E');
            if !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E') || exponent_sign) {
                break;
            }
            self.at += 1;
        }
        let text: String = self.text[start..self.at].iter().collect();
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(FormulaError { at: start, message: "a number is expected here".into() }),
        }
    }

    fn atom(&mut self) -> Result<Formula, FormulaError> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.comparison()?;
                if !self.take(')') {
                    return Err(self.error("`)` is expected here"));
                }
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => Ok(Formula::Number(self.number()?)),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(self.error(format!("a number, a name or `(` is expected, not `{c}`"))),
            None => Err(self.error("the formula ends where a number or a name is expected")),
        }
    }

    fn name(&mut self) -> Result<Formula, FormulaError> {
        let start = self.at;
        while let Some(&c) = self.text.get(self.at) {
            if !(c.is_ascii_alphanumeric() || c == '_' || c == '.') {
                break;
            }
            self.at += 1;
        }
        let name: String = self.text[start..self.at].iter().collect();
        if self.take('(') {
            return self.call(&name, start);
        }
        (self.resolve)(&name)
            .ok_or_else(|| FormulaError { at: start, message: format!("there is no `{name}`") })
    }

    fn call(&mut self, name: &str, start: usize) -> Result<Formula, FormulaError> {
        let Some(&(_, count)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
            let message = format!("there is no function `{name}`; known: {}", known.join(", "));
            return Err(FormulaError { at: start, message });
        };
        let mut arguments = vec![self.comparison()?];
        while self.take(',') {
            arguments.push(self.comparison()?);
        }
        if !self.take(')') {
            return Err(self.error("`,` or `)` is expected here"));
        }
        if arguments.len() != count {
            let message = format!("`{name}` takes {count} arguments, not {}", arguments.len());
            return Err(FormulaError { at: start, message });
        }
        let mut arguments = arguments.into_iter().map(Box::new);
        let mut next = || arguments.next().expect("as many as were counted");
        let unary = |op: Unary, x| Ok(Formula::Unary(op, x));
        match name {
            "sin" => unary(Unary::Sin, next()),
            "cos" => unary(Unary::Cos, next()),
            "tanh" => unary(Unary::Tanh, next()),
            "exp" => unary(Unary::Exp, next()),
            "log" => unary(Unary::Log, next()),
            "sqrt" => unary(Unary::Sqrt, next()),
            "abs" => unary(Unary::Abs, next()),
            "sign" => unary(Unary::Sign, next()),
            "integral" => unary(Unary::Integral, next()),
            "atan2" => Ok(Formula::Binary(Binary::Atan2, next(), next())),
            "min" => Ok(Formula::Binary(Binary::Min, next(), next())),
            "max" => Ok(Formula::Binary(Binary::Max, next(), next())),
            "clip" => {
                let (x, low, high) = (next(), next(), next());
                let above = Formula::Binary(Binary::Max, x, low);
                Ok(Formula::Binary(Binary::Min, Box::new(above), high))
            }
            "if" => Ok(Formula::If(next(), next(), next())),
            _ => {
                let x = next();
                match *next() {
                    Formula::Number(n)
                        if n.fract() == 0.0 && (1.0..=LONGEST_MEMORY).contains(&n) =>
                    {
                        Ok(Formula::Previous(x, n as usize))
                    }
                    _ => Err(FormulaError {
                        at: start,
                        message: format!(
                            "`previous` looks back a whole number of ticks, 1 to {LONGEST_MEMORY}"
                        ),
                    }),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Formula, FormulaError> {
        Formula::parse(text, &|name| match name {
            "t" => Some(Formula::Symbol(Symbol::Time)),
            "input.a" => Some(Formula::Symbol(Symbol::Input(0))),
            _ => None,
        })
    }

    #[test]
    fn operators_bind_as_usual() {
        let same = [
            ("1 + 2 * t", "1 + (2 * t)"),
            ("-t ^ 2", "-(t ^ 2)"),
            ("1 - 2 - t", "(1 - 2) - t"),
            ("t > 1", "1 < t"),
            ("clip(t, -1, 1)", "min(max(t, -1), 1)"),
            ("2e-3*t", "0.002 * t"),
        ];
        for (a, b) in same {
            assert_eq!(parse(a), parse(b), "{a}");
            assert!(parse(a).is_ok(), "{a}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, at, part) in [
            ("1 +", 3, "ends"),
            ("kp * t", 0, "`kp`"),
            ("sin(t, t)", 0, "1 arguments"),
            ("foo(t)", 0, "no function"),
            ("previous(t, 0.5)", 0, "whole number"),
            ("(t", 2, "`)`"),
            ("t t", 2, "operator"),
            ("t ^ 0.5", 3, "whole exponent"),
            ("", 0, "ends"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.at, at, "{text}: {error}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
        assert!(parse(&"(".repeat(100_000)).is_err());
        assert!(parse(&format!("{}t", "-".repeat(100_000))).is_ok());
    }
}
