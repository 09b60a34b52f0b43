//! The README shows the example that the tests run, letter for letter.

#[test]
fn the_readme_shows_the_example_that_runs() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).unwrap();
    let example = include_str!("../../examples/agent_loop.rs");
    let begin = example.find("async fn run(").unwrap();
    let end = example.find("/// Runs the task once").unwrap();
    let shown = example[begin..end].trim_end();
    assert!(readme.contains(shown), "README.md does not show this any more:\n{shown}");
}
