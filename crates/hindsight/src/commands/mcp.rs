//! `mcp`: memory for an agent's program, over its standard streams; `mcp config`: what to paste there.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use hindsight_mcp::{MemoryServer, Profile};
use hindsight_server::{Config, Overrides, Server, logging};
use rmcp::ServiceExt as _;

use crate::connection::{Connection, client_of};
use crate::failure::Failure;
use crate::mcp::{
    config::{McpClient, Way},
    remote::Remote,
};
use crate::output::{Out, tell};
use crate::profile::Globals;

/// How to serve an agent's program.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    /// Which tools: default, or full (also recording whole tasks)
    #[arg(long, value_enum, value_name = "PROFILE", default_value = "default", hide_possible_values = true)]
    profile: ProfileName,
    /// Open the data directory in this process instead of asking a server
    #[arg(long)]
    embedded: bool,
    /// The data directory, with --embedded
    #[arg(long, value_name = "DIR", requires = "embedded")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) action: Option<McpAction>,
}

/// What else there is.
#[derive(Debug, Subcommand)]
pub(crate) enum McpAction {
    /// Print what to paste into the configuration of an agent's program
    Config(McpConfigArgs),
}

/// For which program.
#[derive(Debug, Args)]
pub(crate) struct McpConfigArgs {
    /// The program
    #[arg(long, value_enum, value_name = "NAME")]
    client: McpClient,
    /// Over HTTP, to the server at this address
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "http://127.0.0.1:7421")]
    http: Option<String>,
    /// Let the program open this data directory by itself
    #[arg(long, value_name = "DIR", conflicts_with = "http")]
    data: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProfileName {
    Default,
    Full,
}

/// Serves until the program that started this one closes its end.
pub(crate) async fn run(args: McpArgs, globals: Globals) -> Result<(), Failure> {
    let profile = if args.profile == ProfileName::Full { Profile::Full } else { Profile::Default };
    if std::io::stdin().is_terminal() {
        tell(
            "this speaks MCP on standard input and output, for an agent's program to start; `hindsight mcp config \
             --client NAME` prints what to paste there",
        );
    }
    if !args.embedded {
        let connection = Connection::new(globals)?;
        return serve(Remote(connection.memories()?), profile).await;
    }
    let namespace = globals.namespace.clone().ok_or(Failure::NoNamespace)?;
    let overrides = Overrides {
        data: args.data,
        listen: Some("127.0.0.1:0".to_owned()),
        http: Some("127.0.0.1:0".to_owned()),
        ..Overrides::default()
    };
    let config = Config::load(None, &overrides)?;
    logging::start(&config.log);
    let running = Server::start(&config).await?;
    let client = client_of(&format!("http://{}", running.grpc_addr()), &globals)?;
    let served = serve(Remote(client.namespace(namespace.as_str())?), profile).await;
    running.shutdown().await?;
    served
}

async fn serve(store: Remote, profile: Profile) -> Result<(), Failure> {
    let server = MemoryServer::new(store, profile);
    match server.serve(rmcp::transport::stdio()).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| Failure::Mcp(error.to_string())),
        // Whoever closes the stream before saying anything only wanted to see whether the program starts.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(Failure::Mcp(error.to_string())),
    }
}

/// Prints what to paste, and says where.
pub(crate) fn config(args: &McpConfigArgs, globals: &Globals, out: &mut Out) -> Result<(), Failure> {
    let namespace = globals.namespace.as_ref().ok_or(Failure::NoNamespace)?;
    let way = match &args.http {
        Some(url) => Way::Http { url: format!("{}/mcp/{namespace}", url.trim_end_matches('/')) },
        None => {
            let program = std::env::current_exe()?;
            let mut arguments = vec!["mcp".to_owned(), "--namespace".to_owned(), namespace.to_string()];
            match &args.data {
                Some(data) => {
                    let data = std::path::absolute(data)?;
                    arguments.extend([
                        "--embedded".to_owned(),
                        "--data".to_owned(),
                        data.display().to_string(),
                    ]);
                }
                None => arguments.extend(["--server".to_owned(), globals.server.clone()]),
            }
            // Files are named; a token itself belongs into no configuration.
            for (flag, file) in [("--token-file", &globals.token_file), ("--tls-ca", &globals.tls.tls_ca)] {
                if let Some(file) = file {
                    arguments.extend([flag.to_owned(), std::path::absolute(file)?.display().to_string()]);
                }
            }
            Way::Stdio { command: program.display().to_string(), args: arguments }
        }
    };
    tell(&format!("paste this into {}:", args.client.place()));
    out.line(&args.client.snippet(&way))
}
