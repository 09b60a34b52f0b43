//! `recall`: the question, and the answer with its reasons.

use clap::Args;
use hindsight_core::limits::TOP_K_DEFAULT;
use hindsight_core::recall::{Decay, Fusion};
use hindsight_core::{AsOf, Axis, MemoryId, Mode, Prohibition, Recall, Recalled, Timestamp, Weights};

use crate::connection::Connection;
use crate::failure::Failure;
use crate::flags::FilterFlags;
use crate::output::{Format, Out, tell};
use crate::screen::counted;
use crate::view;

/// What to recall, and how.
#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// What to look for; without it the filter alone decides, and the newest come first
    #[arg(default_value = "", hide_default_value = true)]
    query: String,
    /// Most hits
    #[arg(short = 'k', long, value_name = "NUMBER", allow_negative_numbers = true, default_value_t = TOP_K_DEFAULT)]
    top_k: usize,
    /// Which channels look: hybrid, vector, keyword
    #[arg(long, value_name = "MODE", default_value = "hybrid")]
    mode: Mode,
    /// Show every number of every score, and how the answer was found
    #[arg(long)]
    explain: bool,
    /// Find the nearest vectors by the exact scan, whatever it costs
    #[arg(long)]
    exact: bool,
    /// Least similarity of a hit, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    min_score: Option<f64>,
    /// Most tokens that the hits' texts may cost together, or with --as-text the whole rendering
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    token_budget: Option<usize>,
    /// Days in which recency halves [default: by kind]
    #[arg(long, value_name = "DAYS", allow_negative_numbers = true)]
    half_life_days: Option<f64>,
    /// What recency is multiplied by each day, 0 to 1
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true, conflicts_with = "half_life_days")]
    factor_per_day: Option<f64>,
    /// Let recency not fall at all
    #[arg(long, conflicts_with_all = ["half_life_days", "factor_per_day"])]
    no_decay: bool,
    /// The weight of a channel (vector, keyword, window, entity, neighbour); may be repeated
    #[arg(long = "weight", value_name = "CHANNEL=NUMBER", value_parser = weight)]
    weights: Vec<(Channel, f64)>,
    /// Join the channels by reciprocal ranks
    #[arg(long)]
    rrf: bool,
    /// Only look: count nothing, and give no id for feedback
    #[arg(long)]
    observe: bool,
    /// Search archived memories too
    #[arg(long)]
    include_archived: bool,
    /// Search superseded, expired and no longer valid memories too
    #[arg(long)]
    include_history: bool,
    /// Answer for this past time: what was true then, by what is known today
    #[arg(long, value_name = "TIME", conflicts_with = "include_history")]
    as_of: Option<Timestamp>,
    /// What --as-of means: valid (what was true), known (what the database knew)
    #[arg(long, value_name = "AXIS", default_value = "valid", requires = "as_of")]
    as_of_axis: Axis,
    /// How much the hits should differ from each other, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    diversity: Option<f64>,
    /// Keep hits apart that say the same
    #[arg(long)]
    keep_alike: bool,
    /// What the task must not do: read_only, no_delete, no_external, no_money; may be repeated
    #[arg(long, value_name = "POLICY", value_delimiter = ',')]
    policy: Vec<Prohibition>,
    /// Print the hits as a text for a prompt
    #[arg(long)]
    as_text: bool,
    /// The agent that asks; it sees its own memories beside the shared ones
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The time zone that words like "yesterday" are meant in [default: the system's]
    #[arg(long, value_name = "NAME", env = "HINDSIGHT_TIME_ZONE")]
    time_zone: Option<String>,
    /// The time that counts as now, for ages and words like "yesterday" [default: --as-of, else the clock's]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
    #[command(flatten)]
    filter: FilterFlags,
}

/// A channel whose weight can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Vector,
    Keyword,
    Window,
    Entity,
    Neighbour,
}

/// A text that does not set a weight.
#[derive(Debug, thiserror::Error)]
#[error("expected vector, keyword, window, entity or neighbour with a number, such as keyword=0.5")]
struct BadWeight;

fn weight(text: &str) -> Result<(Channel, f64), BadWeight> {
    let (channel, number) = text.split_once('=').ok_or(BadWeight)?;
    let channel = match channel {
        "vector" => Channel::Vector,
        "keyword" => Channel::Keyword,
        "window" => Channel::Window,
        "entity" => Channel::Entity,
        "neighbour" => Channel::Neighbour,
        _ => return Err(BadWeight),
    };
    number.parse().map(|number| (channel, number)).map_err(|_| BadWeight)
}

impl RecallArgs {
    fn into_recall(self) -> Result<Recall, Failure> {
        let decay = match (self.half_life_days, self.factor_per_day) {
            (Some(days), _) => Some(Decay::HalfLifeDays(days)),
            (None, Some(factor)) => Some(Decay::FactorPerDay(factor)),
            (None, None) => self.no_decay.then_some(Decay::Off),
        };
        let mut weights = Weights::default();
        for (channel, number) in self.weights {
            match channel {
                Channel::Vector => weights.vector = number,
                Channel::Keyword => weights.keyword = number,
                Channel::Window => weights.window = number,
                Channel::Entity => weights.entity = number,
                Channel::Neighbour => weights.neighbour = number,
            }
        }
        Ok(Recall {
            query: self.query,
            mode: self.mode,
            filter: self.filter.into_filter()?,
            include_archived: self.include_archived,
            include_history: self.include_history,
            as_of: self.as_of.map(|at| AsOf { at, axis: self.as_of_axis }),
            diversity: self.diversity,
            keep_alike: self.keep_alike,
            policy: self.policy,
            as_text: self.as_text,
            top_k: self.top_k,
            token_budget: self.token_budget,
            min_score: self.min_score,
            weights,
            fusion: if self.rrf { Fusion::Rrf } else { Fusion::Weighted },
            decay,
            agent_id: self.agent,
            time_zone: self.time_zone.or_else(system_zone),
            now: self.now,
            explain: self.explain,
            exact: self.exact,
            observe: self.observe,
            ..Recall::default()
        })
    }
}

/// The IANA name of the zone that this machine is in, if it has one.
fn system_zone() -> Option<String> {
    jiff::tz::TimeZone::system().iana_name().map(str::to_owned)
}

/// Asks and prints.
pub(crate) async fn run(connection: &Connection, args: RecallArgs, out: &mut Out) -> Result<(), Failure> {
    let memories = connection.memories()?;
    let explain = args.explain;
    let recall = args.into_recall()?;
    let recalled = memories.recall(recall).await?;
    print(&recalled, explain, out)?;
    for (policy, count) in &recalled.held_back {
        let held = counted(*count, "memory", "memories");
        tell(&format!("{held} held back: policy {policy}"));
    }
    if let (Format::Table, Some(id)) = (out.list_format(), recalled.recall_id) {
        tell(&format!("{id}: hindsight feedback {id} --used ID --task success says what became of it"));
    }
    if recalled.hits.is_empty() && recalled.held_back.is_empty() {
        say_why(connection, &recalled).await?;
    }
    Ok(())
}

/// Which memory to explain, in which recall.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The memory to explain
    #[arg(long = "memory", visible_alias = "id", value_name = "ID")]
    memory: MemoryId,
    #[command(flatten)]
    recall: RecallArgs,
}

/// Asks what becomes of one memory in a recall, and prints why.
pub(crate) async fn explain(
    connection: &Connection,
    args: ExplainArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let memories = connection.memories()?;
    let recall = args.recall.into_recall()?;
    let explanation = memories.recall(recall).why(args.memory).await?;
    out.single(&explanation, |paint, width| view::recalled::why(&explanation, *paint, width))
}

fn print(recalled: &Recalled, explain: bool, out: &mut Out) -> Result<(), Failure> {
    // A text for a prompt goes into a pipe as it is.
    if let (Some(text), None | Some(Format::Table), false) = (&recalled.text, out.wanted_format(), explain) {
        return if text.is_empty() { Ok(()) } else { out.line(&crate::screen::safe(text)) };
    }
    match out.list_format() {
        Format::Json => out.json(recalled),
        Format::Table if explain => {
            let text = view::recalled::explained(recalled, out.paint, out.width);
            out.line(&text)
        }
        _ => out.list(&recalled.hits, |paint, width| view::recalled::rows(&recalled.hits, *paint, width)),
    }
}

/// Nobody should have to guess whether the namespace is empty, the filter too narrow or the question too strange.
async fn say_why(connection: &Connection, recalled: &Recalled) -> Result<(), Failure> {
    if recalled.allowed > 0 {
        let allowed = counted(recalled.allowed, "memory is", "memories are");
        tell(&format!("{allowed} allowed, and none of them is like the query"));
        return Ok(());
    }
    connection.say_why_nothing().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_names_its_channel() {
        assert_eq!(weight("keyword=0.5").unwrap(), (Channel::Keyword, 0.5));
        for bad in ["keyword", "smell=1", "vector=much"] {
            assert!(weight(bad).is_err(), "{bad}");
        }
    }
}
