//! `namespaces show` and `namespaces set`: what is set about a namespace.

use std::fmt::Display;
use std::str::FromStr;

use clap::Args;
use comfy_table::Cell;
use hindsight_client::{Durability, LifeKey, LikenessKey, NamespaceInfo, RuleKey, SettingsPatch};
use hindsight_core::Namespace;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::Out;
use crate::screen::{Paint, grouped, text_of};

/// Which namespace to show.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Its name
    #[arg(value_name = "NAME")]
    name: Namespace,
}

/// What to set about which namespace.
#[derive(Debug, Args)]
#[group(id = "settings", multiple = true, required = true, args = ["durability", "life", "rules", "likeness"])]
pub(crate) struct SetArgs {
    /// Its name
    #[arg(value_name = "NAME")]
    name: Namespace,
    /// When a write is acknowledged: sync (when it is durable), async (before: a crash takes back what the last moment wrote)
    #[arg(long, value_name = "WORD")]
    durability: Option<Durability>,
    /// How long memories live, such as episode_days=30 or forgotten_days=0 (for ever); KEY=default goes back to the server's
    /// own; repeat the flag for more
    #[arg(long, value_name = "KEY=NUMBER", value_parser = life_setting)]
    life: Vec<(LifeKey, Option<u32>)>,
    /// How rules are found and live, such as min_episodes=5 or trust_agents=1, shares in hundredths; KEY=default goes back to
    /// the server's own; repeat the flag for more
    #[arg(long = "rule", value_name = "KEY=NUMBER", value_parser = rule_setting)]
    rules: Vec<(RuleKey, Option<u32>)>,
    /// From which cosine on two memories are taken for one (duplicate=95), or for opposites (conflict=50), in hundredths;
    /// KEY=default goes back to the server's own
    #[arg(long, value_name = "KEY=NUMBER", value_parser = likeness_setting)]
    likeness: Vec<(LikenessKey, Option<u32>)>,
}

fn life_setting(text: &str) -> Result<(LifeKey, Option<u32>), String> {
    setting(text, "episode_days=30")
}

fn rule_setting(text: &str) -> Result<(RuleKey, Option<u32>), String> {
    setting(text, "min_episodes=5")
}

fn likeness_setting(text: &str) -> Result<(LikenessKey, Option<u32>), String> {
    setting(text, "duplicate=95")
}

fn setting<K: FromStr>(text: &str, such_as: &str) -> Result<(K, Option<u32>), String>
where
    K::Err: Display,
{
    let parts = text.split_once('=');
    let (key, value) = parts.ok_or_else(|| format!("expected KEY=NUMBER, such as {such_as}"))?;
    let key = key.parse::<K>().map_err(|unknown| unknown.to_string())?;
    match value {
        "default" => Ok((key, None)),
        value => {
            value.parse().map(|value| (key, Some(value))).map_err(|_| format!("{value:?} is no whole number"))
        }
    }
}

/// Shows it.
pub(crate) async fn show(connection: &Connection, args: ShowArgs, out: &mut Out) -> Result<(), Failure> {
    let info = connection.memories_of(&args.name)?.info().await?;
    out.single(&info, |paint, width| table(&info, *paint, width))
}

/// Changes it, and shows how it is then.
pub(crate) async fn set(connection: &Connection, args: SetArgs, out: &mut Out) -> Result<(), Failure> {
    let patch = SettingsPatch {
        durability: args.durability.map(Some),
        life: args.life.into_iter().collect(),
        rules: args.rules.into_iter().collect(),
        likeness: args.likeness.into_iter().collect(),
    };
    let info = connection.memories_of(&args.name)?.set(patch).await?;
    out.single(&info, |paint, width| table(&info, *paint, width))
}

fn table(info: &NamespaceInfo, paint: Paint, width: u16) -> String {
    let mut table = paint.table(width, &[]);
    let mut row = |name: &str, value: String| {
        table.add_row(vec![Cell::new(name).fg(comfy_table::Color::DarkGrey), Cell::new(value)]);
    };
    row("namespace", info.name.to_string());
    row("memories", grouped(info.memories));
    row("durability", info.settings.durability.to_string());
    for (key, value) in &info.settings.life {
        row(key.as_str(), grouped(u64::from(*value)));
    }
    for (key, value) in &info.settings.rules {
        row(key.as_str(), grouped(u64::from(*value)));
    }
    for (key, value) in &info.settings.likeness {
        row(key.as_str(), grouped(u64::from(*value)));
    }
    for (key, value) in &info.settings.unknown {
        row(key, value.clone());
    }
    row("revision", grouped(info.revision.0));
    row("durable up to", grouped(info.durable_revision.0));
    text_of(&mut table)
}
