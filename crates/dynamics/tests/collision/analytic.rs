//! Pairs that MuJoCo has closed forms for: point, frame, distance, number and order of the contacts.

use crate::cases::all;

fn compare(pair: &str) {
    let mut failures = Vec::new();
    let mut counts = [0; 9];
    for case in all(pair) {
        let found = case.find(&case.shapes);
        counts[found.len()] += 1;
        if found.len() != case.contacts.len() {
            let [a, b] = [found.len(), case.contacts.len()];
            failures.push(format!("{}: {a} contacts for {b}", case.name));
            continue;
        }
        let error = |got: usize, recorded: usize| {
            let (got, expected) = (&found[got], &case.contacts[recorded]);
            let tangent = got.tangents()[0] - case.tangents[recorded];
            (got.distance - expected.distance)
                .abs()
                .max((got.position - expected.position).norm())
                .max((got.normal - expected.normal).norm())
                .max(tangent.norm())
        };
        for n in 0..found.len() {
            let all_errors = (0..found.len()).map(|m| error(m, n));
            let error =
                if case.aligned { all_errors.fold(f64::MAX, f64::min) } else { error(n, n) };
            if error > 1e-10 {
                failures.push(format!("{} contact {n}: {error:e}", case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{counts:?}\n{}", failures.join("\n"));
    // The cases have several contacts as well as one and none.
    assert!(counts[0] > 0 && counts[1] > 0 && counts[2] > 0, "{counts:?}");
}

#[test]
fn capsules_against_boxes() {
    compare("capsule_box");
}

#[test]
fn boxes_against_boxes() {
    compare("box_box");
}
