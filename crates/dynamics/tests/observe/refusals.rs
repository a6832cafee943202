//! What is refused, and in which words.

use costate_dynamics::System;
use costate_dynamics::observe::{
    Clock, Observation, Point, Sample, Signal, SignalObserver, SignalSet,
};

use crate::derivatives::{centre, marker, vertex};
use crate::harness::model;

fn refusal(set: &SignalSet) -> String {
    match SignalObserver::new(&System::new(&model()).unwrap(), set) {
        Ok(_) => panic!("accepted: {set:?}"),
        Err(error) => error.to_string(),
    }
}

fn point(point: Point) -> String {
    let signals = vec![Signal::new("s", Observation::Position(point), 0)];
    refusal(&SignalSet { signals, ..SignalSet::default() })
}

#[test]
fn unknown_places() {
    let embedded = |body: &str, rest| Point::Embedded { body: body.into(), rest };
    let text = point(embedded("blok", [0.0; 3]));
    assert!(text.contains("blok") && text.contains("block, dot"), "{text}");
    let text = point(Point::Vertex { body: "block".into(), vertex: 99 });
    assert!(text.contains("vertex 99") && text.contains("12"), "{text}");
    let text = point(embedded("block", [0.1, 0.05, 0.15]));
    assert!(text.contains("5.000e-2 m outside"), "{text}");
    let text = point(embedded("dot", [0.5, 0.0, 0.0]));
    assert!(text.contains("neither"), "{text}");
    assert!(point(embedded("block", [f64::NAN, 0.0, 0.0])).contains("finite"));
    let marker = Point::Marker { name: "m".into(), body: "dot".into(), rest: [0.0; 3] };
    assert!(point(marker).contains("no surface"));
    let text = point(Point::CentreOfMass { body: "block".into(), region: Some("edn".into()) });
    assert!(text.contains("known: end"), "{text}");
}

#[test]
fn contradictions() {
    let position = Observation::Position(vertex(0));
    let signal = |name: &str, component| Signal::new(name, position.clone(), component);
    let with = |signals: Vec<Signal>| SignalSet { signals, ..SignalSet::default() };
    assert!(refusal(&with(vec![signal("s", 3)])).contains("component 3"));
    assert!(refusal(&with(vec![signal("s", 0), signal("s", 1)])).contains("taken"));
    let framed = Signal { frame: Some(0), ..signal("s", 0) };
    assert!(refusal(&with(vec![framed])).contains("no such frame"));
    let mut set = with(vec![signal("s", 0)]);
    set.samples.push(Sample { signal: 0, time: f64::NAN });
    assert!(refusal(&set).contains("sample 0"));
    let mut set = with(vec![signal("s", 0)]);
    let clock = Clock { path: "recording.a.offset".into(), offset: 1.0, bounds: [0.0, 0.5] };
    set.clocks.push(clock);
    assert!(refusal(&set).contains("recording.a.offset"));
    let marker = |z| Point::Marker { name: "m".into(), body: "block".into(), rest: [0.0, 0.0, z] };
    let two = vec![
        Signal::new("a", Observation::Position(marker(0.2)), 0),
        Signal::new("b", Observation::Position(marker(0.3)), 0),
    ];
    assert!(refusal(&with(two)).contains("two ways"));
}

fn observation(observation: Observation) -> String {
    let signals = vec![Signal::new("s", observation, 0)];
    refusal(&SignalSet { signals, ..SignalSet::default() })
}

#[test]
fn what_cannot_be_observed() {
    let on_path = observation(Observation::Acceleration(vertex(3)));
    assert!(on_path.contains("soft.block vertex 3"), "{on_path}");
    let text = observation(Observation::Acceleration(marker()));
    assert!(text.contains("embedded"), "{text}");
    let line = Observation::Orientation(vertex(0), vertex(1), vertex(2));
    assert!(observation(line).contains("one line"));
    let centre = Observation::Orientation(vertex(0), vertex(3), centre(None));
    assert!(observation(centre).contains("centre of mass"));
    let angle =
        |axis, about| Observation::AxisAngle { from: vertex(0), to: vertex(1), axis, about };
    assert!(observation(angle([0.0; 3], None)).contains("not zero"));
    assert!(observation(angle([0.0, 0.0, 1.0], Some([0.0, 0.0, 2.0]))).contains("parallel"));
    let force = |geom: &str, region: Option<&str>| Observation::ContactForce {
        geom: geom.into(),
        body: None,
        region: region.map(Into::into),
    };
    assert!(observation(force("flor", None)).contains("known: floor"));
    assert!(observation(force("floor", Some("end"))).contains("name of its body"));
}
