//! What a manifest says, and how a batch of edits changes it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hindsight_core::{Lsn, Namespace, Settings, Timestamp};

use crate::{
    directory::Stamp,
    records::{Digest, NamespaceId, StoredFile},
    recovery::Floor,
    snapshot::StoredSnapshot,
};

/// One change of the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// A namespace is stored for the first time.
    AddNamespace {
        /// Its number, which no namespace had before.
        id: NamespaceId,
        /// Its name.
        name: Namespace,
        /// The number of its next record file.
        next_file: u32,
    },
    /// A namespace and all its files are gone.
    DropNamespace {
        /// Its number.
        id: NamespaceId,
    },
    /// A namespace has one more file.
    AddFile {
        /// Its number.
        namespace: NamespaceId,
        /// The number of the file: higher than that of every file before it.
        number: u32,
        /// The file.
        file: StoredFile,
    },
    /// A namespace has one file less.
    RemoveFile {
        /// Its number.
        namespace: NamespaceId,
        /// The number of the file.
        number: u32,
    },
    /// How far a namespace is in its files.
    SetNamespace {
        /// Its number.
        id: NamespaceId,
        /// The newest batch that is in the files; batches of it up to this one must not be applied again.
        applied: Lsn,
        /// When that batch was decided.
        last_at: Option<Timestamp>,
        /// How many memories there are, forgotten ones included.
        live: u64,
        /// How many of them are forgotten.
        forgotten: u64,
        /// The digest of the newest record of each.
        digest: Digest,
    },
    /// What the vectors of a namespace are, fixed by the first of them.
    SetModel {
        /// Its number.
        id: NamespaceId,
        /// The model.
        model: StoredModel,
    },
    /// The settings of a namespace from now on, all of them. Without it they are the defaults.
    SetSettings {
        /// Its number.
        id: NamespaceId,
        /// The settings.
        settings: Settings,
    },
    /// A namespace has this index snapshot from now on, or none.
    SetSnapshot {
        /// Its number.
        id: NamespaceId,
        /// The snapshot.
        snapshot: Option<StoredSnapshot>,
    },
    /// How far the log is in the files.
    Checkpoint {
        /// Everything up to this batch is in the files, so the log may drop it.
        lsn: Lsn,
        /// Everything up to this batch was durable when the edit was written.
        durable: Lsn,
    },
    /// What the directory of exactly these files holds. An edit that changes which files there are takes it away, so it
    /// comes last, or the directory is made anew at the next start.
    Directory {
        /// The stamp that the directory has, or will have once it is brought up to this batch.
        stamp: Stamp,
    },
}

impl Edit {
    /// Whether there are other record files afterwards, so that a directory of those before does not fit.
    pub(crate) fn changes_files(&self) -> bool {
        matches!(self, Edit::DropNamespace { .. } | Edit::AddFile { .. } | Edit::RemoveFile { .. })
    }
}

/// Why a batch of edits does not fit what was there before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    /// No namespace has this number.
    #[error("no namespace {id}")]
    UnknownNamespace {
        /// The number.
        id: NamespaceId,
    },
    /// The number was given to a namespace before.
    #[error("namespace number {id} was used before")]
    UsedNumber {
        /// The number.
        id: NamespaceId,
    },
    /// Another namespace has this name.
    #[error("namespace {name} is there already")]
    TakenName {
        /// The name.
        name: String,
    },
    /// The namespace had a file of this number.
    #[error("file number {number} of namespace {id} was used before")]
    UsedFile {
        /// The namespace.
        id: NamespaceId,
        /// The file.
        number: u32,
    },
    /// The namespace has no file of this number.
    #[error("namespace {id} has no file {number}")]
    UnknownFile {
        /// The namespace.
        id: NamespaceId,
        /// The file.
        number: u32,
    },
    /// A position of the log that only grows has become smaller.
    #[error("lsn {found} after lsn {before}")]
    Backwards {
        /// What it was.
        before: Lsn,
        /// What it would be.
        found: Lsn,
    },
}

/// The model that makes a namespace's vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredModel {
    /// Its name.
    pub name: String,
    /// How many numbers its vectors have.
    pub dimension: u32,
}

impl StoredModel {
    /// No model: what an edit says of a namespace that began anew and has had no vector.
    #[must_use]
    pub const fn none() -> StoredModel {
        StoredModel { name: String::new(), dimension: 0 }
    }

    /// Whether it is none.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.name.is_empty()
    }
}

/// A namespace that a checkpoint has stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNamespace {
    /// Its name.
    pub name: Namespace,
    /// Its number, which names its folder.
    pub id: NamespaceId,
    /// The newest batch that is in the files; batches of this namespace up to it must not be applied again.
    pub applied: Lsn,
    /// When that batch was decided.
    pub last_at: Option<Timestamp>,
    /// How many memories there are, forgotten ones included.
    pub live: u64,
    /// How many of them are forgotten.
    pub forgotten: u64,
    /// The digest of the newest record of each.
    pub digest: Digest,
    /// The model of its vectors, also when none of them is left; `None` while it never had one.
    pub model: Option<StoredModel>,
    /// Its settings.
    pub settings: Settings,
    /// Its files by number: later ones win.
    pub files: BTreeMap<u32, StoredFile>,
    /// The number of its next file.
    pub next_file: u32,
    /// Its index snapshot, which is derived and may be damaged or gone.
    pub snapshot: Option<StoredSnapshot>,
}

/// What a manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestState {
    /// All stored namespaces.
    pub namespaces: BTreeMap<NamespaceId, StoredNamespace>,
    names: HashMap<Namespace, NamespaceId>,
    /// The number of the next new namespace.
    pub next_namespace: u32,
    /// How far the log is in the files, and how far it was durable.
    pub floor: Floor,
    /// What a directory of these files holds; `None` when nobody has said.
    pub directory: Option<Stamp>,
}

impl Default for ManifestState {
    fn default() -> Self {
        ManifestState {
            namespaces: BTreeMap::new(),
            names: HashMap::new(),
            next_namespace: 1,
            floor: Floor::default(),
            directory: None,
        }
    }
}

/// A batch of edits that was checked: what it touches, as it will be.
#[derive(Debug)]
pub(crate) struct Change {
    /// `None` for a namespace that is dropped.
    namespaces: BTreeMap<NamespaceId, Option<StoredNamespace>>,
    added: HashMap<Namespace, NamespaceId>,
    dropped: BTreeSet<Namespace>,
    next_namespace: u32,
    floor: Floor,
    directory: Option<Stamp>,
}

impl ManifestState {
    /// A namespace by its name.
    #[must_use]
    pub fn by_name(&self, name: &Namespace) -> Option<&StoredNamespace> {
        self.namespaces.get(self.names.get(name)?)
    }

    /// Checks a batch of edits, and changes nothing yet.
    pub(crate) fn check(&self, edits: &[Edit]) -> Result<Change, EditFault> {
        let mut change = Change {
            namespaces: BTreeMap::new(),
            added: HashMap::new(),
            dropped: BTreeSet::new(),
            next_namespace: self.next_namespace,
            floor: self.floor,
            directory: self.directory,
        };
        edits.iter().try_for_each(|edit| change.edit(self, edit))?;
        Ok(change)
    }

    /// Carries out a batch that was checked against this very state.
    pub(crate) fn carry_out(&mut self, change: Change) {
        self.names.retain(|name, _| !change.dropped.contains(name));
        self.names.extend(change.added);
        for (id, namespace) in change.namespaces {
            match namespace {
                Some(namespace) => self.namespaces.insert(id, namespace),
                None => self.namespaces.remove(&id),
            };
        }
        self.next_namespace = change.next_namespace;
        self.floor = change.floor;
        self.directory = change.directory;
    }

    /// The edits that make this state out of an empty one, in the order of the namespaces' numbers. The number of the
    /// next new namespace is not among them.
    pub(crate) fn image(&self) -> impl Iterator<Item = Edit> + '_ {
        let namespaces = self.namespaces.values().flat_map(|namespace| {
            let StoredNamespace { name, id, applied, last_at, live, forgotten, digest, model, .. } =
                namespace;
            let StoredNamespace { files, next_file, settings, snapshot, .. } = namespace;
            let next_file = files.first_key_value().map_or(*next_file, |(number, _)| *number);
            let add = Edit::AddNamespace { id: *id, name: name.clone(), next_file };
            let files = files.iter();
            let files =
                files.map(|(number, file)| Edit::AddFile { namespace: *id, number: *number, file: *file });
            let set = Edit::SetNamespace {
                id: *id,
                applied: *applied,
                last_at: *last_at,
                live: *live,
                forgotten: *forgotten,
                digest: *digest,
            };
            let model = model.iter().map(|model| Edit::SetModel { id: *id, model: model.clone() });
            let is_set = *settings != Settings::default();
            let settings = is_set.then(|| Edit::SetSettings { id: *id, settings: settings.clone() });
            let snapshot = snapshot.map(|snapshot| Edit::SetSnapshot { id: *id, snapshot: Some(snapshot) });
            std::iter::once(add).chain(files).chain(model).chain(settings).chain([set]).chain(snapshot)
        });
        let Floor { checkpoint_lsn, durable_lsn } = self.floor;
        let checkpoint = Edit::Checkpoint { lsn: checkpoint_lsn, durable: durable_lsn };
        let directory = self.directory.map(|stamp| Edit::Directory { stamp });
        namespaces.chain([checkpoint]).chain(directory)
    }
}

impl Change {
    fn edit(&mut self, state: &ManifestState, edit: &Edit) -> Result<(), EditFault> {
        if edit.changes_files() {
            self.directory = None;
        }
        match edit {
            Edit::AddNamespace { id, name, next_file } => self.add_namespace(state, *id, name, *next_file)?,
            Edit::DropNamespace { id } => {
                let name = self.namespace(state, *id)?.name.clone();
                self.namespaces.insert(*id, None);
                self.added.remove(&name);
                self.dropped.insert(name);
            }
            Edit::AddFile { namespace: id, number, file } => {
                let namespace = self.namespace(state, *id)?;
                if *number < namespace.next_file {
                    return Err(EditFault::UsedFile { id: *id, number: *number });
                }
                namespace.files.insert(*number, *file);
                namespace.next_file = number.saturating_add(1);
            }
            Edit::RemoveFile { namespace: id, number } => {
                let unknown = EditFault::UnknownFile { id: *id, number: *number };
                self.namespace(state, *id)?.files.remove(number).ok_or(unknown)?;
            }
            Edit::SetNamespace { id, applied, last_at, live, forgotten, digest } => {
                let namespace = self.namespace(state, *id)?;
                grows(namespace.applied, *applied)?;
                (namespace.applied, namespace.last_at) = (*applied, *last_at);
                (namespace.live, namespace.forgotten, namespace.digest) = (*live, *forgotten, *digest);
            }
            Edit::SetModel { id, model } => {
                self.namespace(state, *id)?.model = Some(model.clone()).filter(|model| !model.is_none());
            }
            Edit::SetSettings { id, settings } => self.namespace(state, *id)?.settings = settings.clone(),
            Edit::SetSnapshot { id, snapshot } => self.namespace(state, *id)?.snapshot = *snapshot,
            Edit::Checkpoint { lsn, durable } => {
                grows(self.floor.checkpoint_lsn, *lsn)?;
                grows(self.floor.durable_lsn, *durable)?;
                grows(*lsn, *durable)?;
                self.floor = Floor { checkpoint_lsn: *lsn, durable_lsn: *durable };
            }
            Edit::Directory { stamp } => self.directory = Some(*stamp),
        }
        Ok(())
    }

    fn add_namespace(
        &mut self,
        state: &ManifestState,
        id: NamespaceId,
        name: &Namespace,
        next_file: u32,
    ) -> Result<(), EditFault> {
        if id.0 < self.next_namespace {
            return Err(EditFault::UsedNumber { id });
        }
        let is_stored = state.names.contains_key(name) && !self.dropped.contains(name);
        if is_stored || self.added.contains_key(name) {
            return Err(EditFault::TakenName { name: name.as_str().to_owned() });
        }
        let namespace = StoredNamespace {
            name: name.clone(),
            id,
            applied: Lsn(0),
            last_at: None,
            live: 0,
            forgotten: 0,
            digest: Digest::default(),
            model: None,
            settings: Settings::default(),
            files: BTreeMap::new(),
            next_file,
            snapshot: None,
        };
        self.namespaces.insert(id, Some(namespace));
        self.added.insert(name.clone(), id);
        self.next_namespace = id.0.saturating_add(1);
        Ok(())
    }

    /// The namespace as it is after the edits so far.
    fn namespace(
        &mut self,
        state: &ManifestState,
        id: NamespaceId,
    ) -> Result<&mut StoredNamespace, EditFault> {
        let namespace = self.namespaces.entry(id).or_insert_with(|| state.namespaces.get(&id).cloned());
        namespace.as_mut().ok_or(EditFault::UnknownNamespace { id })
    }
}

fn grows(before: Lsn, found: Lsn) -> Result<(), EditFault> {
    if found < before { Err(EditFault::Backwards { before, found }) } else { Ok(()) }
}
