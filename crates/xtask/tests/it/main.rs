//! The project held against its own rules: these run in `cargo test --workspace`, so nobody has to remember them.

use xtask::{codegen, tidy, workspace_root};

#[test]
fn generated_code_is_current() {
    let stale = codegen::stale_files(workspace_root()).unwrap();
    assert!(stale.is_empty(), "stale in {}: {stale:?}; run `cargo xtask codegen`", codegen::OUT_DIR);
}

#[test]
fn tidy_is_clean() {
    let findings = tidy::run(workspace_root()).unwrap();
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", lines.join("\n"));
}
