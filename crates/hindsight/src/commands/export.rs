//! `export`: every memory of a namespace as a line that `import` takes. Page by page, so that its size does not matter.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hindsight_client::ListBuilder;
use hindsight_core::{Filter, Memory};
use tempfile::NamedTempFile;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::{Out, tell};
use crate::progress::Progress;
use crate::screen::counted;

/// Memories of one page: the largest ones of that many still fit a reply.
const PAGE_SIZE: usize = 100;

/// Where to.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A file; it appears whole or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Export every namespace
    #[arg(long)]
    all_namespaces: bool,
    /// Export the memories of this agent's own beside the shared ones
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// Exports. Forgotten memories are left out, and so are those that only another agent may see.
pub(crate) async fn run(connection: &Connection, args: ExportArgs, out: &mut Out) -> Result<(), Failure> {
    let namespaces = match args.all_namespaces {
        true => connection.client().namespaces().await?.into_iter().map(|summary| summary.name).collect(),
        false => vec![connection.namespace()?.clone()],
    };
    let mut target = match args.out.as_deref() {
        Some(path) => Target::File(Box::new(Draft::create(path)?)),
        None => Target::Stdout(out),
    };
    let mut count = 0;
    let progress = Progress::items(None);
    for namespace in &namespaces {
        let mut list = connection.memories_of(namespace)?.list(Filter::default()).page_size(PAGE_SIZE);
        if let Some(agent) = &args.agent {
            list = list.agent(agent);
        }
        // A namespace that does not exist lists nothing; its export would look like one of an empty namespace.
        connection.memories_of(namespace)?.stats().await?;
        count += pages(list, &mut target, &progress, count).await?;
    }
    progress.finish();
    target.finish()?;
    tell(&format!("exported {}", counted(count, "memory", "memories")));
    Ok(())
}

async fn pages(
    list: ListBuilder,
    target: &mut Target<'_>,
    progress: &Progress,
    before: u64,
) -> Result<u64, Failure> {
    let mut all = list.all();
    let mut count = 0;
    while let Some(memory) = all.next().await? {
        target.write(&memory)?;
        count += 1;
        progress.set_items(before + count);
    }
    Ok(count)
}

/// Where the lines go.
enum Target<'a> {
    Stdout(&'a mut Out),
    File(Box<Draft>),
}

/// A file that is not there yet: it is written beside its place and moved there when it is whole.
struct Draft {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl Target<'_> {
    fn write(&mut self, memory: &Memory) -> Result<(), Failure> {
        match self {
            Target::Stdout(out) => out.jsonl(memory),
            Target::File(draft) => draft.write(memory).map_err(|source| draft.failed(source)),
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Target::Stdout(out) => out.flush(),
            Target::File(draft) => draft.publish(),
        }
    }
}

impl Draft {
    fn create(path: &Path) -> Result<Draft, Failure> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match NamedTempFile::new_in(folder) {
            Ok(file) => Ok(Draft { path: path.to_owned(), file: BufWriter::new(file) }),
            Err(source) => Err(Failure::Create { path: path.to_owned(), source }),
        }
    }

    fn write(&mut self, memory: &Memory) -> std::io::Result<()> {
        serde_json::to_writer(&mut self.file, memory)?;
        self.file.write_all(b"\n")
    }

    /// IMPORTANT: the bytes are synced before the name is, or a crash could leave the name with half a file.
    fn publish(self) -> Result<(), Failure> {
        let Draft { path, file } = self;
        let failed = |source| Failure::Create { path: path.clone(), source };
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn failed(&self, source: std::io::Error) -> Failure {
        Failure::Create { path: self.path.clone(), source }
    }
}
