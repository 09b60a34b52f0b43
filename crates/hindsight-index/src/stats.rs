//! What an index holds and what it costs. Bytes are estimates of the heap, from capacities.

/// Counts of a keyword index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LexicalStats {
    /// Memories that have text.
    pub docs: u32,
    /// Distinct terms.
    pub terms: usize,
    /// Entries of all lists.
    pub postings: u64,
    /// Terms of all texts, repetitions included.
    pub length_sum: u64,
    /// Estimated bytes.
    pub bytes: usize,
}

/// Counts of a graph in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GraphStats {
    /// Vectors that it was built from.
    pub covered: usize,
    /// Those of them that are gone.
    pub dead: usize,
    /// Memories with vectors that came after it was begun, and are scanned beside it.
    pub newer: usize,
    /// Nodes; equal vectors share one.
    pub nodes: usize,
    /// Estimated bytes of links and maps, without the vectors.
    pub bytes: usize,
}

/// Counts of a shelf.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShelfStats {
    /// Memories.
    pub memories: usize,
    /// Vectors; a memory may have several, or none.
    pub vectors: usize,
    /// The keyword index.
    pub lexical: LexicalStats,
    /// Distinct values that bitmaps stand for.
    pub values: usize,
    /// Distinct names of entities, subjects and values.
    pub names: usize,
    /// Claims; one that several memories make counts for each.
    pub claims: usize,
    /// Estimated bytes of names and claims.
    pub entity_bytes: usize,
    /// Estimated bytes of the map between ids and ordinals.
    pub ordinal_bytes: usize,
    /// Estimated bytes of the hot columns.
    pub hot_bytes: usize,
    /// Estimated bytes of the bitmaps.
    pub bitmap_bytes: usize,
    /// Estimated bytes of the vectors.
    pub vector_bytes: usize,
    /// The graph over the vectors, where there is one.
    pub graph: Option<GraphStats>,
}

impl ShelfStats {
    /// Estimated bytes of everything.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.ordinal_bytes
            + self.hot_bytes
            + self.bitmap_bytes
            + self.vector_bytes
            + self.graph.map_or(0, |graph| graph.bytes)
            + self.entity_bytes
            + self.lexical.bytes
    }
}

/// Counts of a namespace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NamespaceStats {
    /// The memories that recall sees.
    pub active: ShelfStats,
    /// Superseded, archived and quarantined ones.
    pub inactive: ShelfStats,
    /// Estimated bytes of the marks by which new memories meet old ones.
    pub meeting_bytes: usize,
}

impl NamespaceStats {
    /// Estimated bytes of everything.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.active.bytes() + self.inactive.bytes() + self.meeting_bytes
    }
}
