//! Experiment files: what they say, and that every fault is told with its place.

use std::path::{Path, PathBuf};

use costate_identify::experiment::{Sigma, SignalData};
use costate_identify::{Experiment, IdentifyError};
use costate_model::{Interpolation, Spread, Transform};

const SCENE: &str = r#"
costate = 1
[option]
timestep = 1e-3
[soft.a]
vertices = [[0.0, 0.0, 0.0], [0.0, 0.0, -1.0]]
fixed = [0]
[soft.a.springs]
ends = [[0, 1]]
stiffness = 40.0
damping = 0.3
[soft.a.point_mass.bob]
at = [1]
mass = 0.5
[soft.a.load.pull]
at = [1]
"#;

const DATA: &str = "\
ms,z,fx,fy,fz,segment
0,-1000,0,0,0,1
10,-1001,0,0,0.1,1
20,,0,0,0.2,1
40,-1004,0,0,,1
0,-1000,0,0,0,2
15,-1003,0,0,0.5,2
";

const EXPERIMENT: &str = r#"
costate = 1
name = "bob"
scene = "scene.toml"
validation = ["drop_2"]

[frame.lab]
translation = [0.0, 0.0, 1.0]

[signal.z]
position = { body = "a", vertex = 1 }
component = "z"
unit = "mm"
sigma = 2.0
frame = "lab"

[recording.drop]
file = "drop.csv"
time = { column = "ms", unit = "ms" }
split_by = "segment"
overrides = { "soft.a.point_mass.bob.mass" = 0.7 }
[recording.drop.inputs."soft.a.load.pull"]
columns = ["fx", "fy", "fz"]
unit = "mN"
sign = -1
interpolation = "linear"

[parameters]
"soft.a.springs.stiffness" = { start = 30, transform = "log", bounds = [1, 1e4] }
"soft.a.springs.damping" = { spread = "per_element", prior = { mean = 0.3, sd = 0.1 } }
"recording.drop_1.offset" = { bounds = [-0.01, 0.01] }

[method]
loss = { huber = 1.5 }
multi_start = { starts = 3, seed = 7 }
memory = "64 MB"
"#;

/// A folder with scene and data, of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("costate-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("scene.toml"), SCENE).unwrap();
    std::fs::write(folder.join("drop.csv"), DATA).unwrap();
    folder
}

fn read(folder: &Path, text: &str) -> Result<Experiment, IdentifyError> {
    Experiment::parse(folder.join("experiment.toml"), text)
}

#[test]
fn an_experiment_file_says_what_it_means() {
    let folder = folder("meaning");
    let e = read(&folder, EXPERIMENT).unwrap();
    assert_eq!(e.name, "bob");
    assert_eq!(e.recordings.len(), 2);
    let (first, second) = (&e.recordings[0], &e.recordings[1]);
    assert_eq!((first.name.as_str(), second.name.as_str()), ("drop_1", "drop_2"));
    assert!(!first.validation && second.validation);
    assert_eq!(first.overrides[0].values, [0.7]);
    let SignalData { times, values, .. } = &first.data[0];
    assert!(times.iter().zip([0.0, 0.01, 0.02, 0.04]).all(|(a, b)| (a - b).abs() < 1e-15));
    assert!((values[1] + 1.001).abs() < 1e-15 && values[2].is_nan());
    assert_eq!(e.signals[0].sigma, Sigma::Given(0.002));
    let (channel, input) = &first.inputs[0];
    assert_eq!(channel, "soft.a.load.pull");
    assert_eq!(input.interpolation, Interpolation::Linear);
    assert_eq!(input.times.len(), 3);
    assert!((input.values[5] + 1e-4).abs() < 1e-18);
    assert_eq!(e.parameters[0].entry.transform, Some(Transform::log()));
    assert_eq!(e.parameters[1].entry.spread, Spread::PerElement);
    assert_eq!(e.method.memory, 64_000_000);
    assert_eq!(e.method.multi_start.unwrap().starts, 3);
    costate_identify::Problem::new(&e).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_start_may_be_written_in_the_recording() {
    let folder = folder("first-row");
    let text =
        EXPERIMENT.replace("start = 30,", "per_recording = true, start = { column = \"fz\" },");
    let text = text.replace("split_by", "range = [0.01, 1.0]\nsplit_by");
    let text = text.replace("bounds = [1, 1e4]", "bounds = [0.01, 1e4]");
    let e = read(&folder, &text).unwrap();
    // The first row that counts is the one at 10 ms.
    assert_eq!(e.recordings[0].first_row["fz"], 0.1);
    let problem = costate_identify::Problem::new(&e).unwrap();
    let stiffness = problem.unknowns.iter().position(|u| u.name.contains("stiffness")).unwrap();
    let value = problem.unknowns[stiffness].transform.value(problem.start()[stiffness]);
    assert!((value - 0.1).abs() < 1e-12, "{value}");
    // What is kept for validation starts where its own first row says.
    let (id, _) =
        e.model.leaves.iter().find(|(_, l)| l.path.ends_with("springs.stiffness")).unwrap();
    let at = problem.system.model().leaves.range(id).start;
    assert!((problem.recordings[1].theta[at] - 0.5).abs() < 1e-12);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_fault_has_its_place() {
    let folder = folder("faults");
    // What is replaced, by what, the line of the fault, and words of the message.
    let cases: &[(&str, &str, usize, &[&str])] = &[
        ("costate = 1", "costate = 2", 2, &["version 1"]),
        ("scene = \"scene.toml\"", "scene = \"none.toml\"", 0, &["none.toml"]),
        ("validation = [\"drop_2\"]", "validation = [\"drip\"]", 5, &["drip", "drop_1"]),
        ("validation = [\"drop_2\"]", "validation = [\"drop\"]", 5, &["at least one recording"]),
        ("translation", "translatoin", 8, &["translation"]),
        ("[signal.z]", "[signal.\"z.y\"]", 10, &["letters"]),
        ("body = \"a\", vertex = 1", "body = \"b\", vertex = 1", 11, &["soft body", "a"]),
        ("vertex = 1 }", "vertex = 9 }", 11, &["from 0 to 1"]),
        ("vertex = 1 }", "vertex = 1, rest = [0, 0, 0] }", 11, &["either"]),
        ("vertex = 1 }", "region = \"top\" }", 11, &["region"]),
        ("position = {", "pozition = {", 10, &["what is observed"]),
        ("component = \"z\"", "component = \"w\"", 12, &["\"z\""]),
        ("component = \"z\"", "component = 3", 12, &["component"]),
        ("unit = \"mm\"", "unit = \"furlong\"", 13, &["unit"]),
        ("unit = \"mm\"", "unit = \"ms\"", 13, &["measured in m"]),
        ("sigma = 2.0", "sigma = 0.0", 14, &["above 0"]),
        ("sigma = 2.0", "sigma = \"some\"", 14, &["auto"]),
        ("frame = \"lab\"", "frame = \"lap\"", 15, &["lab"]),
        ("file = \"drop.csv\"", "file = \"drip.csv\"", 0, &["drip.csv"]),
        ("file = \"drop.csv\"", "files = \"drop.csv\"", 17, &["file"]),
        ("column = \"ms\"", "column = \"sm\"", 19, &["sm"]),
        ("unit = \"ms\" }", "unit = \"mm\" }", 19, &["measured in s"]),
        ("split_by = \"segment\"", "split_by = \"fz\"", 0, &["segment", "drop.csv"]),
        ("split_by = \"segment\"\n", "", 0, &["drop.csv:6", "after"]),
        ("\"soft.a.point_mass.bob.mass\" = 0.7", "\"soft.a.bob\" = 1", 21, &["soft.a.bob"]),
        ("\"soft.a.point_mass.bob.mass\" = 0.7", "\"soft.a.point_mass.bob\" = -1", 21, &["-1"]),
        ("inputs.\"soft.a.load.pull\"", "inputs.\"soft.a.load.push\"", 22, &["soft.a.load.pull"]),
        ("[\"fx\", \"fy\", \"fz\"]", "[\"fx\", \"fy\"]", 22, &["3"]),
        ("[\"fx\", \"fy\", \"fz\"]", "[\"fx\", \"fy\", \"f\"]", 22, &["\"f\""]),
        ("unit = \"mN\"", "unit = \"Pa\"", 24, &["measured in N"]),
        ("sign = -1", "sign = -2", 25, &["1 or -1"]),
        ("\"linear\"", "\"cubic\"", 26, &["linear"]),
        ("springs.stiffness\" = {", "springs.stifness\" = {", 29, &["springs.stiffness"]),
        ("start = 30", "start = -30", 29, &["-30"]),
        ("start = 30", "start = 3e9", 29, &["3000000000"]),
        ("start = 30", "components = []", 29, &["empty"]),
        ("start = 30", "start = { column = \"z\" }", 29, &["per_recording"]),
        ("start = 30", "start = { colum = \"z\" }", 29, &["column"]),
        (
            "start = 30",
            "per_recording = true, start = { column = \"y\" }",
            29,
            &["no column `y`", "segment"],
        ),
        (
            "start = 30",
            "per_recording = true, start = { column = \"z\", unit = \"m\" }",
            29,
            &["N/m"],
        ),
        ("start = 30", "per_recording = \"each\", start = 30", 29, &["all"]),
        ("\"soft.a.point_mass.bob.mass\"", "\"soft.a.springs.stiffness\"", 29, &["left to find"]),
        ("-0.01, 0.01]", "-0.01, 1e9]", 17, &["the unit of its times"]),
        ("name = \"bob\"", "name = \"../bob\"", 3, &["without slashes"]),
        ("transform = \"log\"", "transform = \"logit\"", 29, &["log"]),
        ("bounds = [1, 1e4]", "bounds = [1e4, 1]", 29, &["smaller first"]),
        ("spread = \"per_element\"", "spread = \"each\"", 30, &["per_element"]),
        ("spread = \"per_element\"", "groups = [\"g\"]", 30, &["per_group"]),
        ("sd = 0.1", "sd = 0", 30, &["above 0"]),
        ("drop_1.offset\" = { bounds = [-0.01, 0.01] }", "drop_1.offset\" = {}", 31, &["bounds"]),
        ("recording.drop_1.offset", "recording.drop_2.offset", 31, &["validation"]),
        ("recording.drop_1.offset", "recording.drop_3.offset", 31, &["drop_1"]),
        ("recording.drop_1.offset", "signal.x.bias", 31, &["signal.z.bias"]),
        ("huber = 1.5", "huber = 0", 34, &["above 0"]),
        ("bounds = [1, 1e4]", "scan = 5", 29, &["bounds"]),
        ("bounds = [1, 1e4]", "bounds = [1, 1e4], scan = 1", 29, &["two values"]),
        ("start = 30", "start = 30, per_recording = true, scan = [1, 2]", 29, &["share"]),
        ("memory = \"64 MB\"", "horizons = [0.2, 0.1]", 36, &["ascending"]),
        ("starts = 3", "starts = 0", 35, &["above 0"]),
        ("\"64 MB\"", "\"64 Mb\"", 36, &["64 MB"]),
        ("memory =", "memmory =", 36, &["memory"]),
    ];
    for (from, to, line, words) in cases {
        assert!(EXPERIMENT.contains(from), "{from}");
        let text = EXPERIMENT.replacen(from, to, 1);
        let result =
            read(&folder, &text).and_then(|e| costate_identify::Problem::new(&e).map(|_| ()));
        let error = result.expect_err(to);
        let IdentifyError::File(error) = &error else { panic!("{to}: {error}") };
        let message = error.to_string();
        if *line > 0 {
            assert_eq!(error.line(), Some(*line), "{to}: {message}");
            assert!(message.contains("experiment.toml"), "{message}");
        }
        for word in *words {
            assert!(message.contains(word), "{to}: {message}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

const ROBOT: &str = r#"<mujoco model="pole">
  <worldbody>
    <body name="pole">
      <joint name="pivot" axis="0 1 0"/>
      <inertial mass="1" pos="0 0 -0.3" diaginertia="0.02 0.02 0.01"/>
      <site name="imu" pos="0 0 -0.2"/>
    </body>
  </worldbody>
  <sensor>
    <gyro name="gyro" site="imu" noise="0.02"/>
    <framequat name="attitude" objtype="site" objname="imu"/>
    <jointpos name="angle" joint="pivot"/>
  </sensor>
</mujoco>
"#;

const SENSED: &str = r#"
costate = 1
scene = "pole.xml"
[signal.w]
sensor = "gyro"
unit = "deg/s"
[signal.attitude]
sensor = "attitude"
component = 2
[signal.angle]
sensor = "angle"
sigma = 0.01
[recording.a]
file = "pole.csv"
[parameters]
"body.pole.diaginertia" = { components = ["y"] }
"signal.w.y.bias" = {}
"recording.a.joint.pivot.qpos" = { start = 0.3 }
"#;

#[test]
fn sensors_of_a_robot_are_signals() {
    let folder = folder("sensors");
    std::fs::write(folder.join("pole.xml"), ROBOT).unwrap();
    let table = "time,w_x,w_y,w_z,attitude,angle\n0,0,0,0,0.1,0.3\n0.05,0,-9,0,0.1,0.2\n\
                 0.1,0,-30,0,0.1,0.1\n0.15,0,-50,0,0.1,0\n";
    std::fs::write(folder.join("pole.csv"), table).unwrap();
    let e = read(&folder, SENSED).unwrap();
    let names: Vec<&str> = e.signals.iter().map(|s| &*s.signal.name).collect();
    assert_eq!(names, ["w.x", "w.y", "w.z", "attitude", "angle"]);
    // The file says how noisy the gyro is, in SI units, whatever the column's unit.
    assert_eq!(e.signals[1].sigma, Sigma::Given(0.02));
    assert_eq!(e.signals[3].sigma, Sigma::Auto);
    assert_eq!(e.signals[4].sigma, Sigma::Given(0.01));
    assert_eq!(e.signals[0].signal.unit(), "rad/s");
    let found = costate_identify::gradient(&e, None).unwrap();
    assert!(found.gradient.values().all(|g| g.as_slice().iter().all(|x| *x != 0.0)), "{found:?}");
    for (from, to, line, word) in [
        ("\"gyro\"", "\"gyre\"", 5, "gyro"),
        ("component = 2", "", 7, "quaternion"),
        ("component = 2", "component = 4", 9, "4"),
        ("deg/s", "mm", 6, "rad/s"),
    ] {
        let error = read(&folder, &SENSED.replacen(from, to, 1)).expect_err(to);
        let IdentifyError::File(error) = &error else { panic!("{to}: {error}") };
        assert_eq!(error.line(), Some(line), "{to}: {error}");
        assert!(error.to_string().contains(word), "{to}: {error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
