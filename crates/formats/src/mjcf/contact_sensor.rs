//! `sensor/contact`.

use super::attributes::Reader;
use super::build::Builder;
use crate::error::{ErrorKind, Result};
use costate_model::rigid::{ContactField, ContactReduction, ContactSensor, ContactSide};

/// Most contacts of one sensor.
const MOST: f64 = 10_000.0;

/// A sensor of contacts; none for one with fields that are not measured.
pub(super) fn read(b: &Builder<'_>, r: &Reader<'_>, suffix: &str) -> Result<Option<ContactSensor>> {
    let side = |names: [&'static str; 3]| -> Result<Option<ContactSide>> {
        let mut found = None;
        for (k, name) in names.into_iter().enumerate() {
            if !r.has(name) {
                continue;
            }
            if found.is_some() {
                return Err(r
                    .wrong(name, ErrorKind::Conflict)
                    .expected(format!("one of {}", names.join(", ")))
                    .found("two"));
            }
            found = Some(match k {
                0 => ContactSide::Geom(b.geom(r, name, suffix)?),
                1 => ContactSide::Body(b.body(r, name, suffix)?),
                _ => ContactSide::Subtree(b.body(r, name, suffix)?),
            });
        }
        Ok(found)
    };
    let first = side(["geom1", "body1", "subtree1"])?;
    let second = side(["geom2", "body2", "subtree2"])?;
    let site = if r.has("site") { Some(b.site(r, "site", suffix)?) } else { None };
    if site.is_some() && first.is_some() {
        return Err(r
            .wrong("site", ErrorKind::Conflict)
            .expected("a site with geom2, body2 or subtree2 alone")
            .found("a first side beside it"));
    }
    let mut fields = [false; 7];
    let mut last = None;
    for word in r.text("data").unwrap_or("found").split_whitespace() {
        if ["linvel", "angvel"].contains(&word) {
            return Ok(None);
        }
        let known = ContactField::ALL.iter().position(|field| field.name() == word);
        match known {
            Some(k) if last.is_none_or(|last| last < k) => {
                fields[k] = true;
                last = Some(k);
            }
            _ => {
                let names = ContactField::ALL.map(ContactField::name).join(", ");
                return Err(r
                    .wrong("data", ErrorKind::Syntax)
                    .expected(format!("some of {names}, in this order"))
                    .found(format!("{word:?}")));
            }
        }
    }
    if last.is_none() {
        return Err(r.wrong("data", ErrorKind::Syntax).expected("fields").found("none"));
    }
    let words = [
        ("none", ContactReduction::None),
        ("mindist", ContactReduction::Deepest),
        ("maxforce", ContactReduction::Strongest),
        ("netforce", ContactReduction::Net),
    ];
    let reduction = r.choice("reduce", &words)?.unwrap_or(ContactReduction::None);
    let count = r.number("num")?.unwrap_or(1.0);
    if !(1.0..=MOST).contains(&count) || count.fract() != 0.0 {
        return Err(r
            .wrong("num", ErrorKind::OutOfBounds)
            .expected(format!("a whole number from 1 to {MOST}"))
            .found(format!("{count}")));
    }
    // The net force is one.
    let count = if reduction == ContactReduction::Net { 1 } else { count as usize };
    Ok(Some(ContactSensor { first, second, site, fields, reduction, count }))
}
