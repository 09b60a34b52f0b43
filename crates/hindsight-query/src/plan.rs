//! What a recall will do: which channels run, over how many memories, and how it prints.

use std::fmt::{self, Display};

use hindsight_core::scoring::fusion;
use hindsight_core::timewords::Window;
use hindsight_core::{AsOf, Axis, Fusion, Mode, Recall};

use crate::timing::{Times, Took};
use crate::view::VectorWay;

/// Candidates that the vector channel brings, at least.
pub const VECTOR_CANDIDATES: usize = 20;
/// Candidates that the keyword channel brings, at least.
pub const KEYWORD_CANDIDATES: usize = 20;
/// Candidates that names bring.
pub const ENTITY_CANDIDATES: usize = 10;
/// Candidates that the time window brings.
pub const WINDOW_CANDIDATES: usize = 10;
/// Candidates of a recall without a query: the newest.
pub const NEWEST_CANDIDATES: usize = 200;

/// How far apart in time two memories of a session may lie and still count as neighbours, in milliseconds: 5 minutes.
pub const NEIGHBOUR_MS: i64 = 300_000;

/// A channel that looks for candidates, with its weight in relevance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Channel {
    /// Nearest vectors.
    Vector {
        /// Its weight.
        weight: f64,
        /// Most candidates.
        limit: usize,
    },
    /// Best BM25 scores.
    Keyword {
        /// Its weight.
        weight: f64,
        /// Most candidates.
        limit: usize,
    },
    /// Memories inside the named span of time.
    Window {
        /// Its weight.
        weight: f64,
        /// Most candidates.
        limit: usize,
    },
    /// Memories that name what the query names.
    Entity {
        /// Its weight.
        weight: f64,
        /// Most candidates.
        limit: usize,
    },
    /// The newest memories: only when no other channel can run.
    Newest {
        /// Most candidates.
        limit: usize,
    },
}

impl Channel {
    /// The channel's name in breakdowns and plans.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Channel::Vector { .. } => "vector",
            Channel::Keyword { .. } => "keyword",
            Channel::Window { .. } => "window",
            Channel::Entity { .. } => "entity",
            Channel::Newest { .. } => "newest",
        }
    }

    /// Its weight in relevance; the newest have none.
    #[must_use]
    pub const fn weight(&self) -> f64 {
        match self {
            Channel::Vector { weight, .. }
            | Channel::Keyword { weight, .. }
            | Channel::Window { weight, .. }
            | Channel::Entity { weight, .. } => *weight,
            Channel::Newest { .. } => 0.0,
        }
    }

    /// Most candidates it brings.
    #[must_use]
    pub const fn limit(&self) -> usize {
        match self {
            Channel::Vector { limit, .. }
            | Channel::Keyword { limit, .. }
            | Channel::Window { limit, .. }
            | Channel::Entity { limit, .. }
            | Channel::Newest { limit } => *limit,
        }
    }
}

/// What a recall will do, and, once it ran, what each step found.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// How many memories the filter allows: exact, since it is the size of a set.
    pub allowed: u64,
    /// The channels, in the order of their names' appearance in breakdowns.
    pub channels: Vec<Channel>,
    /// How many candidates each channel brought, in the same order.
    pub found: Vec<usize>,
    /// How much the relevance of the best neighbour counts beside a memory's own; 0 where neighbours are not looked at.
    pub neighbour_weight: f64,
    /// Whether the nearest vectors are found by the exact scan, whatever it costs.
    pub exact: bool,
    /// Which way they were found.
    pub way: Option<VectorWay>,
    /// How channels are joined.
    pub fusion: Fusion,
    /// The span of time that the query names.
    pub window: Option<Window>,
    /// What else it names, the rarest first.
    pub names: Vec<String>,
    /// Distinct candidates.
    pub candidates: usize,
    /// Hits returned.
    pub returned: usize,
    /// What became of the others, beside those that were cut.
    pub choice: Counts,
    /// The past time that is asked for.
    pub as_of: Option<AsOf>,
    /// How much hits should differ from each other.
    pub diversity: Option<f64>,
    /// How long each step took, where somebody measured.
    pub times: Times,
}

/// How many candidates collapsed into others, and how many were held back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Collapsed into newer ones.
    pub collapsed: usize,
    /// Held back by the task's policy.
    pub held_back: usize,
}

impl Plan {
    /// Decides which channels run. A channel that has nothing to go by (no vector, no known word, no time words, no known name)
    /// does not run and gives its weight to the others; a weight of 0 switches a channel off.
    #[must_use]
    pub fn new(
        recall: &Recall,
        allowed: u64,
        knows_a_word: bool,
        names: Vec<String>,
        window: Option<Window>,
    ) -> Plan {
        let weights = recall.weights;
        let limit = |least: usize| least.max(recall.top_k);
        let mut channels = Vec::new();
        if recall.mode != Mode::Keyword && recall.vector.is_some() && weights.vector > 0.0 {
            channels.push(Channel::Vector { weight: weights.vector, limit: limit(VECTOR_CANDIDATES) });
        }
        if recall.mode != Mode::Vector && knows_a_word && weights.keyword > 0.0 {
            channels.push(Channel::Keyword { weight: weights.keyword, limit: limit(KEYWORD_CANDIDATES) });
        }
        if window.is_some() && recall.mode == Mode::Hybrid && weights.window > 0.0 {
            channels.push(Channel::Window { weight: weights.window, limit: limit(WINDOW_CANDIDATES) });
        }
        if !names.is_empty() && recall.mode == Mode::Hybrid && weights.entity > 0.0 {
            channels.push(Channel::Entity { weight: weights.entity, limit: limit(ENTITY_CANDIDATES) });
        }
        // A query that nothing can look for finds nothing; only an absent query means "the newest".
        if channels.is_empty() && recall.query.trim().is_empty() && recall.vector.is_none() {
            channels.push(Channel::Newest { limit: NEWEST_CANDIDATES });
        }
        let looks = |channel: &Channel| {
            matches!(channel, Channel::Vector { .. } | Channel::Keyword { .. } | Channel::Entity { .. })
        };
        let neighbour_weight = if channels.iter().any(looks) { weights.neighbour } else { 0.0 };
        Plan {
            allowed,
            channels,
            found: Vec::new(),
            neighbour_weight,
            exact: recall.exact,
            way: None,
            fusion: recall.fusion,
            window,
            names,
            candidates: 0,
            returned: 0,
            choice: Counts::default(),
            as_of: recall.as_of,
            diversity: recall.diversity,
            times: Times::default(),
        }
    }

    /// The share of relevance that a channel has after the absent ones gave theirs away. By ranks all count the same.
    fn share(&self, channel: &Channel) -> f64 {
        let weight = |channel: &Channel| match self.fusion {
            Fusion::Weighted => channel.weight(),
            Fusion::Rrf => 1.0,
        };
        let sum: f64 = self.channels.iter().map(weight).sum();
        if sum > 0.0 { weight(channel) / sum } else { 0.0 }
    }
}

impl Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = &self.times;
        writeln!(f, "recall: {} returned of {} candidates{}", self.returned, self.candidates, times.all)?;
        match self.fusion {
            Fusion::Weighted => writeln!(f, "├─ rank: min-max, weighted mean{}", times.rank)?,
            Fusion::Rrf => {
                writeln!(
                    f,
                    "├─ rank: reciprocal ranks, k = {}{}",
                    hindsight_core::recall::RRF_K,
                    times.rank
                )?;
            }
        }
        for (index, channel) in self.channels.iter().enumerate() {
            let found = self.found.get(index).copied().unwrap_or(0);
            write!(f, "├─ {}: {found} found of at most {}", channel.name(), channel.limit())?;
            match channel {
                Channel::Newest { .. } => {}
                _ => write!(f, ", share {:.2}", self.share(channel))?,
            }
            if let (Channel::Vector { .. }, Some(way)) = (channel, self.way) {
                write!(f, ", {way}")?;
            }
            writeln!(f, "{}", times.channels.get(index).copied().unwrap_or_default())?;
        }
        if self.neighbour_weight > 0.0 {
            let (weight, took) = (self.neighbour_weight, times.neighbours);
            writeln!(f, "├─ neighbours in the session: {weight:.2} beside a memory's own 1{took}")?;
        }
        if let Some(window) = &self.window {
            writeln!(f, "├─ time words {:?}: {} to {}", window.words, window.from, window.to)?;
        }
        if !self.names.is_empty() {
            writeln!(f, "├─ names: {}{}", self.names.join(", "), times.names)?;
        }
        if let Some(share) = self.diversity {
            writeln!(f, "├─ diversity: {share:.2} for being different")?;
        }
        let Counts { collapsed, held_back } = self.choice;
        if collapsed + held_back > 0 {
            writeln!(f, "├─ collapsed into newer ones: {collapsed}, held back by policy: {held_back}")?;
        }
        if let Some(as_of) = self.as_of {
            let what = if as_of.axis == Axis::Valid { "was true" } else { "was known" };
            writeln!(f, "├─ as of {}: what {what} then", as_of.at)?;
        }
        if times.all != Took::default() {
            let Times { words, scores, cut, contents, .. } = times;
            writeln!(f, "├─ words read{words}; candidates scored{scores}; cut{cut}; contents{contents}")?;
        }
        write!(f, "└─ filter: {} allowed, exact{}", self.allowed, times.filter)
    }
}

impl Display for VectorWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VectorWay::Scan => write!(f, "by scan"),
            VectorWay::GaveUp => write!(f, "by scan after the walk through the graph was given up"),
            VectorWay::Graph { ef, covered, newer } => {
                write!(f, "through the graph: best {ef} of {covered} vectors, {newer} newer by scan")
            }
        }
    }
}

/// Nearness to the named span: 1 inside, falling to 0 over one length of the span outside.
#[must_use]
pub fn window_score(window: &Window, occurred_at_ms: i64) -> f64 {
    let (from, to) = (window.from.as_ms(), window.to.as_ms());
    let outside_ms = (from - occurred_at_ms).max(occurred_at_ms - (to - 1)).max(0);
    #[expect(clippy::cast_precision_loss, reason = "spans in ms are below 2^53")]
    let share = outside_ms as f64 / (to - from).max(1) as f64;
    (1.0 - share).max(0.0)
}

/// Normalised scores of one channel under weighted fusion: nearness to a span of time and the share of
/// what is named are on the scale already. `names_time`: whether the query names a time.
#[must_use]
pub fn normalized(channel: &Channel, raw: &[Option<f64>], names_time: bool) -> Vec<f64> {
    match channel {
        Channel::Window { .. } | Channel::Entity { .. } => {
            raw.iter().map(|score| score.unwrap_or(0.0)).collect()
        }
        _ if names_time => fusion::min_max_beside_time(raw),
        _ => fusion::min_max(raw),
    }
}
