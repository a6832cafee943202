//! What the program says where a beginner goes wrong, and what it must not pass over.

use serde_json::Value;

use crate::common::Folder;

/// A block that falls towards a floor and reaches it after 0.45 s.
const DROP: &str = r#"costate = 1
[option]
timestep = 1e-4
duration = 0.1
[soft.block]
grid = { cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }
position = [0.0, 0.0, 1.0]
material = "neo-hookean"
young = 1e4
poisson = 0.3
density = 100.0
[geom.floor]
type = "plane"
"#;

const PENDULUM: &str = r#"<mujoco model="pendulum">
  <compiler angle="radian"/>
  <option timestep="0.002"/>
  <worldbody><body name="rod"><joint name="hinge" type="hinge" axis="0 1 0" damping="0.002"/>
    <geom name="rod" type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.5"/></body></worldbody>
  <sensor><jointpos name="angle" joint="hinge"/><framequat name="turn" objtype="body" objname="rod"/></sensor>
</mujoco>
"#;

fn output(folder: &Folder, args: &[&str]) -> (Option<i32>, String, String) {
    let found = folder.run(args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (found.status.code(), text(&found.stdout), text(&found.stderr))
}

/// Column of a CSV file by name.
fn column(folder: &Folder, file: &str, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = header.iter().position(|n| *n == name).unwrap_or_else(|| panic!("{name}: {header:?}"));
    lines.map(|cells| cells[at].parse().unwrap()).collect()
}

/// The swing of a pendulum and an experiment about it, whose parameters are `parameters`.
fn swing(folder: &Folder, parameters: &str) {
    folder.file("pendulum.xml", PENDULUM);
    let args = ["simulate", "pendulum.xml", "--set", "joint.hinge.qpos=0.5", "--duration", "2"];
    let (code, value) = folder.json(&[&args[..], &["--out", "swing.csv"]].concat());
    assert_eq!(code, 0, "{value}");
    let experiment = format!(
        "costate = 1\nscene = \"pendulum.xml\"\n[signal.angle]\nsensor = \"angle\"\n\
         column = \"sensor.angle\"\nsigma = 1e-3\n[recording.swing]\nfile = \"swing.csv\"\n\
         time = \"t\"\noverrides = {{ \"joint.hinge.qpos\" = 0.5 }}\n[parameters]\n{parameters}\n"
    );
    folder.file("experiment.toml", &experiment);
}

#[test]
fn a_setting_is_no_leaf() {
    let folder = Folder::new("setting");
    folder.file("scene.toml", DROP);
    let (code, value) = folder.json(&["params", "scene.toml", "--set", "option.timestep=1e-4"]);
    let message = value["error"]["message"].as_str().unwrap();
    assert_eq!(code, 2);
    assert!(message.contains("is a setting") && !message.contains("gravity"), "{message}");
}

#[test]
fn leaves_that_had_no_influence_are_not_counted_as_proved() {
    let folder = Folder::new("late");
    folder.file("scene.toml", DROP);
    let (code, text, _) = output(&folder, &["check", "scene.toml", "--steps", "20"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("no influence in these 20 steps") && text.contains("--steps"), "{text}");
    let (_, value) = folder.json(&["check", "scene.toml", "--steps", "20"]);
    let leaves = value["leaves"].as_array().unwrap();
    let idle = leaves.iter().filter(|l| l["influences"] == false).count();
    assert!(idle > 0 && value["without_influence"] == idle, "{value}");
    let proved = format!("{} proved, 0 fail", leaves.len() - idle);
    assert!(text.contains(&proved), "{proved}: {text}");
}

#[test]
fn a_missing_robot_is_told_with_the_line_that_names_it() {
    let folder = Folder::new("missing");
    folder.file("scene.toml", "costate = 1\n# a comment\nrobot = \"nothing.xml\"\n");
    let (code, value) = folder.json(&["params", "scene.toml"]);
    assert_eq!(code, 2);
    assert_eq!(value["error"]["line"], 3, "{value}");
    assert!(value["error"]["file"].as_str().unwrap().ends_with("scene.toml"), "{value}");
    assert!(value["error"]["message"].as_str().unwrap().contains("nothing.xml"), "{value}");
}

#[test]
fn sensors_are_written_beside_the_motion() {
    let folder = Folder::new("sensors");
    swing(&folder, "\"joint.hinge.damping\" = {}");
    let angle = column(&folder, "swing.csv", "sensor.angle");
    let turned = column(&folder, "swing.csv", "joint.hinge.qpos");
    assert!(angle.len() == 201 && angle.iter().zip(turned).all(|(a, q)| (a - q).abs() < 1e-14));
    let (w, y) = (
        column(&folder, "swing.csv", "sensor.turn.0"),
        column(&folder, "swing.csv", "sensor.turn.2"),
    );
    for ((q, w), y) in angle.iter().zip(w).zip(y) {
        assert!((w - (q / 2.0).cos()).abs() < 1e-12 && (y - (q / 2.0).sin()).abs() < 1e-12);
    }
    // A motion with sensors is one to go on from, in both forms.
    for file in ["swing.csv", "swing.npz"] {
        let out = ["simulate", "pendulum.xml", "--duration", "0.1", "--out", file];
        assert_eq!(folder.json(&[&out[..], &["--set", "joint.hinge.qpos=0.5"]].concat()).0, 0);
        let on = ["simulate", "pendulum.xml", "--duration", "0.1", "--initial", file];
        let (code, value) = folder.json(&[&on[..], &["--out", "on.csv"]].concat());
        assert_eq!(code, 0, "{value}");
    }
}

#[test]
fn an_absurd_cell_is_named_and_no_parameter_is_blamed() {
    let folder = Folder::new("absurd");
    swing(&folder, "\"joint.hinge.damping\" = {}");
    let text = std::fs::read_to_string(folder.path().join("swing.csv")).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let at = header.iter().position(|n| *n == "sensor.angle").unwrap();
    for absurd in ["1e300", "-1e120"] {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut cells: Vec<&str> = lines[8].split(',').collect();
        let time = cells[0].to_owned();
        cells[at] = absurd;
        lines[8] = cells.join(",");
        folder.file("swing.csv", &lines.join("\n"));
        let (code, value) = folder.json(&["identify", "experiment.toml"]);
        let message = value["error"]["message"].as_str().unwrap();
        assert_eq!(code, 2, "{value}");
        assert!(message.contains("recording.swing") && message.contains("`angle`"), "{message}");
        assert!(message.contains(&format!("t = {time} s")), "{message}");
        assert!(!message.contains("joint.hinge.damping"), "{message}");
        assert!(value["error"]["line"].is_u64(), "{value}");
    }
}

#[test]
fn without_parameters_nothing_converges() {
    let folder = Folder::new("none");
    swing(&folder, "");
    let (code, text, errors) = output(&folder, &["identify", "experiment.toml", "--no-gif"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(text.contains("no parameters are selected") && !text.contains("converged"), "{text}");
}

#[test]
fn a_fit_worse_than_a_model_at_rest_is_none() {
    let folder = Folder::new("unfit");
    swing(&folder, "\"joint.hinge.damping\" = { bounds = [1e-4, 1e-2] }");
    // It stays where a pendulum that is let go at 0.5 never comes to; at rest there it would miss by less.
    let still: Vec<String> = (0..100).map(|i| format!("{},0.9", 0.02 * f64::from(i))).collect();
    folder.file("swing.csv", &format!("t,sensor.angle\n{}\n", still.join("\n")));
    let (code, value) = folder.json(&["identify", "experiment.toml", "--no-gif"]);
    assert_eq!((code, &value["converged"]), (1, &Value::Bool(false)), "{value}");
    assert_eq!(value["status"], "converged", "{value}");
    let warnings = value["warnings"].to_string();
    assert!(warnings.contains("this is no fit"), "{warnings}");
    let (_, text, _) = output(&folder, &["identify", "experiment.toml", "--no-gif"]);
    assert!(text.contains("no fit: every signal is explained worse"), "{text}");
}
