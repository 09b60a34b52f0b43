//! What the command line may say: the global flags and the list of commands. Each command's own flags stand
//! with the command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, builder::NonEmptyStringValueParser};
use hindsight_core::{Namespace, time::Span};

use crate::commands;
use crate::output::Format;

const EXAMPLES: &str = "\
Examples:
  hindsight demo
  hindsight serve --data ./data
  hindsight -n ops write \"Deploys go through Argo CD, never kubectl apply\" --tag deploy
  hindsight -n ops recall \"how do we deploy\" --explain
  hindsight -n ops recall \"上周部署失败的原因\" --status failure --last 7d
  hindsight -n ops export --out ops.jsonl
  hindsight -n ops mcp config --client claude-code
  hindsight token create --data ./data --name admin --right admin
  hindsight backup create --out monday.backup";

const EXIT_CODES: &str = "\
Exit codes:
  0 done   1 failed   2 wrong usage, or a field that is wrong   3 not found
  4 conflict, or a condition that does not hold   5 not allowed
  6 the server does not answer in time, or at all   7 an import that refused lines   8 verify: something is damaged
  serve, backup, repair: 65 damaged data   73 a directory that can't be written   78 refused";

/// A memory database for agents: write what happened, recall what matters now, and see why.
#[derive(Debug, Parser)]
#[command(name = "hindsight", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: GlobalFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The flags that every command understands, as they were said; [`crate::profile`] makes `Globals` of them.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalFlags {
    /// Where the server listens (gRPC) [default: http://127.0.0.1:7420]
    #[arg(long, global = true, env = "HINDSIGHT_SERVER", value_name = "URL")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    /// The namespace to work in
    #[arg(short, long, global = true, env = "HINDSIGHT_NAMESPACE", value_name = "NAME")]
    pub(crate) namespace: Option<Namespace>,
    /// The token to call with
    #[arg(long, global = true, env = "HINDSIGHT_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// A file with the token to call with
    #[arg(long, global = true, env = "HINDSIGHT_TOKEN_FILE", value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tls: TlsFlags,
    /// How to print: table, json, jsonl [default: table on a terminal, else JSON]
    #[arg(short, long, global = true, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) output: Option<Format>,
    /// How long one call may take [default: 10s]
    #[arg(long, global = true, value_name = "SPAN")]
    pub(crate) timeout: Option<Span>,
    /// A profile of ~/.config/hindsight/config.toml: server, namespace, token file and so on under one name
    #[arg(long, global = true, env = "HINDSIGHT_PROFILE", value_name = "NAME")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) use_profile: Option<String>,
    /// Print without colours (also: NO_COLOR)
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
}

/// How the connection to an `https://` server is encrypted.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TlsFlags {
    /// Who may have signed the certificate of an https:// server, as PEM [default: whom this system trusts]
    #[arg(
        long,
        global = true,
        env = "HINDSIGHT_TLS_CA",
        value_name = "FILE",
        help_heading = "Global options"
    )]
    pub(crate) tls_ca: Option<PathBuf>,
    /// The name that its certificate is for, when it is not that of the URL
    #[arg(
        long,
        global = true,
        env = "HINDSIGHT_TLS_DOMAIN",
        value_name = "NAME",
        help_heading = "Global options"
    )]
    pub(crate) tls_domain: Option<String>,
    /// Your own certificate, for a server that asks for one
    #[arg(long, global = true, env = "HINDSIGHT_TLS_CLIENT_CERT", value_name = "FILE")]
    #[arg(requires = "tls_client_key", help_heading = "Global options")]
    pub(crate) tls_client_cert: Option<PathBuf>,
    /// The key of your own certificate
    #[arg(long, global = true, env = "HINDSIGHT_TLS_CLIENT_KEY", value_name = "FILE")]
    #[arg(requires = "tls_client_cert", help_heading = "Global options")]
    pub(crate) tls_client_key: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server
    Serve(commands::serve::ServeArgs),
    /// Store a memory
    Write(Box<commands::write::WriteArgs>),
    /// Store a finished task: what was done, with what, and how it ended
    Record(Box<commands::record::RecordArgs>),
    /// Ask for the memories that matter now
    #[command(visible_alias = "search")]
    Recall(Box<commands::recall::RecallArgs>),
    /// Say why a memory is in the answer to a question, or why it is not
    Explain(Box<commands::recall::ExplainArgs>),
    /// Show memories by id
    Get(commands::get::GetArgs),
    /// List memories
    List(Box<commands::list::ListArgs>),
    /// Change fields of a memory
    Update(Box<commands::update::UpdateArgs>),
    /// Take memories out of recall; they can be restored
    Forget(Box<commands::forget::ForgetArgs>),
    /// Bring forgotten memories back
    Restore(commands::forget::RestoreArgs),
    /// Say what became of recalled memories, and how the task ended
    Feedback(commands::learn::FeedbackArgs),
    /// Show what superseded what, around one memory
    History(commands::learn::HistoryArgs),
    /// Take back that a memory was superseded
    Rollback(commands::learn::RollbackArgs),
    /// List, propose, activate and deprecate rules
    Rules(commands::rules::RulesArgs),
    /// Make rules of what episodes agree on
    Consolidate(commands::rules::ConsolidateArgs),
    /// Merge what is known of an entity into one memory
    Summarize(commands::rules::SummarizeArgs),
    /// Erase memories for good: no byte is left in the data directory
    Purge(Box<commands::purge::PurgeArgs>),
    /// Keep the turns of a running session, and make an episode of it
    Sessions(commands::sessions::SessionsArgs),
    /// Print what changes in a namespace, as it changes
    Watch(commands::watch::WatchArgs),
    /// Store the lines of a JSONL file
    Import(commands::import::ImportArgs),
    /// Write a namespace out as JSONL that `import` takes
    Export(commands::export::ExportArgs),
    /// Remember without being asked: for the hooks of an agent's program
    Hook(commands::hook::HookArgs),
    /// Serve an agent's program that speaks MCP, or print its configuration
    Mcp(commands::mcp::McpArgs),
    /// Take, check or restore a backup of everything
    Backup(commands::backup::BackupArgs),
    /// Check every byte of a data directory that no server has open
    Verify(commands::verify::VerifyArgs),
    /// Make a new data directory of what is left of a damaged one
    Repair(commands::repair::RepairArgs),
    /// Show what stands in a file of a database, or in a backup
    Inspect(commands::inspect::InspectArgs),
    /// Say who may call: make, name and take back tokens
    Token(commands::token::TokenArgs),
    /// Show who did what, and check that the record of it is whole
    Audit(commands::audit::AuditArgs),
    /// Count what a namespace holds
    Stats,
    /// Name the namespaces, drop one, or set something about one
    Namespaces(commands::namespaces::NamespacesArgs),
    /// Show what the server does by itself, or run it now
    Jobs(commands::jobs::JobsArgs),
    /// Print what the server takes over HTTP, as OpenAPI 3.1 (JSON)
    Openapi,
    /// Ask the server how it is
    Health,
    /// Find what is wrong with a server, its directory or the way to it, and say what mends it
    Doctor(Box<commands::doctor::DoctorArgs>),
    /// Check and show what is configured, and where each value comes from
    Config(commands::config::ConfigArgs),
    /// Print a script that completes this command line in a shell
    Completion(commands::manual::CompletionArgs),
    /// Print the manual page, or write that of every command
    Man(commands::manual::ManArgs),
    /// Print the version
    Version,
    /// Show it all on a sample: store, ask, stop hard, start again, ask again
    Demo(commands::demo::DemoArgs),
}
