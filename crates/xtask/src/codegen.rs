//! Rust code and descriptor set of `proto/`, written without protoc.
//!
//! protox parses the files in pure Rust, tonic-prost-build turns them into code. The result is committed, so
//! that an ordinary build needs neither; the test `generated_code_is_current` fails when it is out of date.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use prost::Message;
use prost_types::FileDescriptorSet;

/// Where the `.proto` files are, below the workspace.
pub const PROTO_DIR: &str = "proto";
/// Where the generated files go, below the workspace.
pub const OUT_DIR: &str = "crates/hindsight-proto/src/generated";
/// The encoded `FileDescriptorSet`, for server reflection and for tests that walk every RPC.
pub const DESCRIPTOR_FILE: &str = "descriptor.bin";
/// Generated files of other packages (the well-known types) come with prost-types and are not kept.
const PACKAGE_PREFIX: &str = "hindsight.";

/// A file that the generator gives: its name inside [`OUT_DIR`], and its bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Name without a folder, such as `hindsight.v1.rs`.
    pub name: String,
    /// Whole content.
    pub bytes: Vec<u8>,
}

/// Compiles every `.proto` file below `root/proto`, in memory.
///
/// # Errors
/// When there is no `.proto` file, when one does not compile, or when a temporary folder cannot be used.
pub fn generate(root: &Path) -> anyhow::Result<Vec<GeneratedFile>> {
    let include = root.join(PROTO_DIR);
    let protos = proto_files(&include)?;
    ensure!(!protos.is_empty(), "no .proto file below {}", include.display());

    let mut compiler = protox::Compiler::new([&include])?;
    compiler.include_imports(true).include_source_info(true).open_files(&protos)?;
    let descriptors = compiler.file_descriptor_set();
    let descriptor_bytes = without_source(descriptors.clone()).encode_to_vec();

    let out = tempfile::tempdir().context("cannot make a temporary folder for the generated code")?;
    tonic_prost_build::configure()
        .out_dir(out.path())
        .bytes(".")
        .build_transport(false)
        .compile_fds(descriptors)
        .context("tonic-prost-build could not write the generated code")?;

    let mut files = own_packages(out.path())?;
    files.push(GeneratedFile { name: DESCRIPTOR_FILE.to_owned(), bytes: descriptor_bytes });
    Ok(files)
}

/// Generates and writes everything, and removes code of packages that are gone. Returns the paths written.
///
/// # Errors
/// As [`generate`], and when [`OUT_DIR`] cannot be written.
pub fn write(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let files = generate(root)?;
    let out = root.join(OUT_DIR);
    fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    for name in left_over(&out, &files)? {
        let path = out.join(name);
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    let mut written = Vec::new();
    for file in files {
        let path = out.join(&file.name);
        fs::write(&path, &file.bytes).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path);
    }
    Ok(written)
}

/// Names of the committed files that differ from what [`generate`] gives: changed, missing, or left over.
///
/// # Errors
/// As [`generate`], and when [`OUT_DIR`] cannot be listed.
pub fn stale_files(root: &Path) -> anyhow::Result<Vec<String>> {
    let files = generate(root)?;
    let out = root.join(OUT_DIR);
    let mut stale = left_over(&out, &files)?;
    for file in files {
        // A file that cannot be read is as good as missing: writing it again is the cure for both.
        if fs::read(out.join(&file.name)).ok() != Some(file.bytes) {
            stale.push(file.name);
        }
    }
    stale.sort();
    Ok(stale)
}

/// Every `.proto` file below `folder`, sorted, so that the result does not depend on the file system.
fn proto_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "proto") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Comments make up half of a descriptor set, and reflection clients do not show them.
fn without_source(mut descriptors: FileDescriptorSet) -> FileDescriptorSet {
    for file in &mut descriptors.file {
        file.source_code_info = None;
    }
    descriptors
}

fn own_packages(folder: &Path) -> anyhow::Result<Vec<GeneratedFile>> {
    let mut files = Vec::new();
    for name in names_in(folder)? {
        if is_package_code(&name) {
            files.push(GeneratedFile { bytes: fs::read(folder.join(&name))?, name });
        }
    }
    Ok(files)
}

/// Code of a package that `proto/` no longer has.
fn left_over(out: &Path, files: &[GeneratedFile]) -> anyhow::Result<Vec<String>> {
    if !out.exists() {
        return Ok(Vec::new());
    }
    let mut names = names_in(out)?;
    names.retain(|name| is_package_code(name) && !files.iter().any(|file| file.name == *name));
    Ok(names)
}

fn is_package_code(name: &str) -> bool {
    name.starts_with(PACKAGE_PREFIX) && name.ends_with(".rs")
}

fn names_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECHO: &str = "syntax = \"proto3\";\npackage hindsight.v9;\nimport \"google/protobuf/timestamp.proto\";\n\
        // Says it again.\nservice Echo { rpc Say(Word) returns (Word); }\n\
        message Word { string text = 1; google.protobuf.Timestamp at = 2; }\n";

    fn project(proto: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("proto/hindsight/v9")).unwrap();
        fs::write(root.path().join("proto/hindsight/v9/echo.proto"), proto).unwrap();
        root
    }

    #[test]
    fn gives_server_client_and_descriptor_of_our_package_only() {
        let files = generate(project(ECHO).path()).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["hindsight.v9.rs", "descriptor.bin"]);
        let code = String::from_utf8(files[0].bytes.clone()).unwrap();
        assert!(code.contains("pub mod echo_server"), "{code}");
        assert!(code.contains("pub mod echo_client"), "{code}");
        assert!(code.contains("/// Says it again."), "{code}");
        let descriptors = FileDescriptorSet::decode(files[1].bytes.as_slice()).unwrap();
        assert_eq!(descriptors.file.len(), 2);
        assert!(descriptors.file.iter().all(|file| file.source_code_info.is_none()));
    }

    #[test]
    fn a_changed_a_missing_and_a_left_over_file_are_stale() {
        let project = project(ECHO);
        let root = project.path();
        assert_eq!(stale_files(root).unwrap(), ["descriptor.bin", "hindsight.v9.rs"]);
        write(root).unwrap();
        assert_eq!(stale_files(root).unwrap(), Vec::<String>::new());

        fs::write(root.join(OUT_DIR).join("hindsight.v8.rs"), "").unwrap();
        fs::write(root.join("proto/hindsight/v9/echo.proto"), ECHO.replace("text = 1", "text = 3")).unwrap();
        assert_eq!(stale_files(root).unwrap(), ["descriptor.bin", "hindsight.v8.rs", "hindsight.v9.rs"]);
        write(root).unwrap();
        assert_eq!(stale_files(root).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_proto_file_with_an_error_is_named() {
        let error = generate(project("syntax = \"proto3\";\nmessage Word { Missing field = 1; }\n").path())
            .unwrap_err();
        assert!(format!("{error:#}").contains("Missing"), "{error:#}");
    }
}
