//! The record files: each by itself, and those of a namespace together.

use std::{collections::BTreeMap, io};

use super::{Checker, FileState};
use crate::{
    error::{At, StorageError},
    io::{Io, OpenMode},
    manifest::StoredNamespace,
    records::{
        Loaded, NS_DIR, Newest, RecordFault, StoredFile, namespace_dir, parse_namespace_dir, record_path,
        scan_file,
    },
    snapshot::{self, is_unnamed, snapshot_path},
};

impl<I: Io> Checker<'_, I> {
    pub(super) fn files(&mut self) -> Result<(), StorageError> {
        let namespaces = std::mem::take(&mut self.state.namespaces);
        for namespace in namespaces.values() {
            self.namespace(namespace)?;
            self.snapshot(namespace);
        }
        self.state.namespaces = namespaces;
        self.stamp();
        self.unnamed_files()
    }

    fn namespace(&mut self, namespace: &StoredNamespace) -> Result<(), StorageError> {
        let mut newest = Newest::default();
        let mut places = BTreeMap::new();
        let mut are_sound = true;
        for (number, stored) in &namespace.files {
            are_sound &= self.file(namespace, *number, stored, &mut |loaded| {
                newest.see(loaded);
                if let Loaded::Record { position, record, .. } = loaded {
                    places.insert(record.memory.id, *position);
                }
            })?;
        }
        self.places = self.places.filter(|_| are_sound);
        if let Some(stamp) = &mut self.places {
            places.into_iter().for_each(|(id, position)| stamp.replace(id, None, Some(position)));
        }
        let (live, digest) = newest.counted();
        if are_sound && (live, digest) != (namespace.live, namespace.digest) {
            let (name, expected) = (namespace.name.as_str().to_owned(), namespace.live);
            let error = StorageError::CorruptNamespace { name, live: expected, found_live: live };
            let folder = namespace_dir(&self.dir.join(NS_DIR), namespace.id);
            self.tell(&folder, FileState::Wrong, error);
        }
        Ok(())
    }

    /// Returns whether it is as it should be.
    fn file(
        &mut self,
        namespace: &StoredNamespace,
        number: u32,
        stored: &StoredFile,
        see: &mut dyn FnMut(&Loaded),
    ) -> Result<bool, StorageError> {
        let path = record_path(&self.dir.join(NS_DIR), namespace.id, number);
        match self.io.file_len(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.tell(&path, FileState::Wrong, "missing");
                return Ok(false);
            }
            result => result.at("read", &path)?,
        };
        let scanned = scan_file(self.io, &path, &mut |loaded| {
            see(&loaded);
            Ok(())
        });
        let checked = scanned.and_then(|(header, found)| {
            let is_it = self.store_id.is_none_or(|store_id| store_id == header.store_id)
                && (header.namespace, header.number) == (namespace.id, number);
            let fault = match (is_it, found == *stored) {
                (false, _) => RecordFault::Place { found: header },
                (_, false) => RecordFault::NotInManifest,
                _ => return Ok(()),
            };
            Err(StorageError::CorruptRecords { path: path.clone(), offset: 0, fault })
        });
        match checked {
            Ok(()) => {
                let StoredFile { records, requests, .. } = stored;
                let note = format!("{}: {records} records, {requests} requests", namespace.name);
                self.tell(&path, FileState::Ok, note);
                Ok(true)
            }
            Err(error) => self.tell_wrong(&path, error).map(|()| false),
        }
    }

    /// Files that the manifest does not name.
    fn unnamed_files(&mut self) -> Result<(), StorageError> {
        let ns = self.dir.join(NS_DIR);
        let names = match self.io.list(&ns) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            result => result.at("list", &ns)?,
        };
        for name in names {
            let folder = ns.join(&name);
            let inside = match (parse_namespace_dir(&name), self.io.list(&folder)) {
                (Some(id), Ok(inside)) => inside.into_iter().map(move |name| (id, name)),
                _ => {
                    self.tell(&folder, FileState::Unknown, "no part of a database");
                    continue;
                }
            };
            for (id, name) in inside {
                let path = folder.join(&name);
                match is_unnamed(&name, self.state.namespaces.get(&id)) {
                    Some(true) => self.tell(&path, FileState::Leftover, "the manifest does not name it"),
                    Some(false) => {}
                    None => self.tell(&path, FileState::Unknown, "no part of a database"),
                }
            }
        }
        Ok(())
    }

    /// The index snapshot of a namespace. It is derived, so what is wrong with it is no damage.
    fn snapshot(&mut self, namespace: &StoredNamespace) {
        let Some(stored) = &namespace.snapshot else { return };
        let path = snapshot_path(&self.dir.join(NS_DIR), namespace.id, stored.lsn);
        let read = |store_id| {
            let file = self.io.open(&path, OpenMode::Read).at("open", &path)?;
            snapshot::read(&file, &path, stored, store_id, namespace.id)
        };
        match self.store_id.map(read) {
            None => {}
            Some(Ok(_)) => {
                let note = format!("{}: index snapshot at lsn {}", namespace.name, stored.lsn);
                self.tell(&path, FileState::Ok, note);
            }
            Some(Err(fault)) => {
                let note = format!("{fault}: the index is made anew from the records");
                self.tell(&path, FileState::Leftover, note);
            }
        }
    }
}
