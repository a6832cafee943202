//! Sensors of contacts.

/// One side of the contacts that a sensor looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactSide {
    /// A geom.
    Geom(usize),
    /// Geoms of a body.
    Body(usize),
    /// Geoms of a body and of all that hangs on it.
    Subtree(usize),
}

/// What of a contact a sensor measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactField {
    /// How many contacts there are; zero in places without one.
    Found,
    /// Force (3) in the contact's axes: normal, then two tangents, N.
    Force,
    /// Torque (3) in the contact's axes, N m.
    Torque,
    /// Distance, negative in penetration, m.
    Distance,
    /// Position (3), m.
    Position,
    /// Normal (3), from the first side to the second.
    Normal,
    /// First tangent (3).
    Tangent,
}

impl ContactField {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Self; 7] = [
        Self::Found,
        Self::Force,
        Self::Torque,
        Self::Distance,
        Self::Position,
        Self::Normal,
        Self::Tangent,
    ];

    /// MJCF's word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Force => "force",
            Self::Torque => "torque",
            Self::Distance => "dist",
            Self::Position => "pos",
            Self::Normal => "normal",
            Self::Tangent => "tangent",
        }
    }

    /// How many numbers it has.
    pub const fn count(self) -> usize {
        match self {
            Self::Found | Self::Distance => 1,
            _ => 3,
        }
    }

    /// Its unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Force => "N",
            Self::Torque => "N m",
            Self::Distance | Self::Position => "m",
            _ => "",
        }
    }
}

/// Which of the contacts a sensor measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactReduction {
    /// The first ones.
    None,
    /// The deepest ones, the deepest first.
    Deepest,
    /// Those of the largest forces, the largest first.
    Strongest,
    /// One that stands for all: the sum of their forces, in the world's axes, at the mean of their
    /// positions weighted by their forces' sizes.
    Net,
}

/// A sensor of contacts: of all of them where it names no side and no site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactSensor {
    /// One side.
    pub first: Option<ContactSide>,
    /// The other.
    pub second: Option<ContactSide>,
    /// A site whose shape holds the contacts' positions.
    pub site: Option<usize>,
    /// Which fields it measures, by their place in [`ContactField::ALL`].
    pub fields: [bool; 7],
    /// Which contacts.
    pub reduction: ContactReduction,
    /// Of how many.
    pub count: usize,
}

impl ContactSensor {
    /// How many numbers it measures of one contact.
    pub const fn width(&self) -> usize {
        let (mut sum, mut k) = (0, 0);
        while k < self.fields.len() {
            if self.fields[k] {
                sum += ContactField::ALL[k].count();
            }
            k += 1;
        }
        sum
    }

    /// How many numbers it measures.
    pub const fn len(&self) -> usize {
        self.width() * self.count
    }

    /// Whether it measures nothing.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = ContactField> + '_ {
        ContactField::ALL.into_iter().zip(self.fields).filter_map(|(field, on)| on.then_some(field))
    }

    /// The field that one of its numbers is of.
    pub fn field(&self, number: usize) -> Option<ContactField> {
        let mut left = number % self.width().max(1);
        self.fields().find(|field| {
            let own = left < field.count();
            left = left.saturating_sub(field.count());
            own
        })
    }

    /// The unit of all its numbers, where they have the same.
    pub fn unit(&self) -> &'static str {
        let mut units = self.fields().map(ContactField::unit);
        let first = units.next().unwrap_or_default();
        if units.all(|unit| unit == first) { first } else { "" }
    }
}
