//! `token`: who may call. With `--data` on the data directory itself, which is how the first one is made; else of the server.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use comfy_table::{Cell, Color};
use hindsight_auth::{Credential, Grant, Pattern, Right, Rights, Token, TokenId, TokenStore, Wish, store};
use hindsight_client::TokenWish;
use hindsight_core::{Invalid, SourceKind, Timestamp, time::Span};
use serde::Serialize;

use crate::clock;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::{Format, Out, tell};
use crate::profile::Globals;
use crate::screen::text_of;

/// What to do with tokens.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// Work on this data directory itself, not over its server
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    action: TokenAction,
}

#[derive(Debug, Subcommand)]
enum TokenAction {
    /// Make a token, and print it this once
    Create(Box<CreateArgs>),
    /// Name the tokens, and what each allows
    List,
    /// Take a token back
    Revoke(RevokeArgs),
    /// Print a token for the file that `serve --auth-token-file` reads; it is stored nowhere
    Generate,
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// Who holds it
    #[arg(long, value_name = "NAME")]
    name: String,
    /// What it may do: observe, read, write, forget, purge, rules, audit, backup, admin (may be repeated)
    #[arg(long = "right", value_name = "RIGHT", value_delimiter = ',')]
    rights: Vec<Right>,
    /// Where: a namespace, a beginning such as team-*, or * [default: the one of --namespace; all for admin]
    #[arg(long = "on", value_name = "NAMESPACES", requires = "rights")]
    on: Vec<Pattern>,
    /// Both in one, such as team-*=read,write (may be repeated)
    #[arg(long = "grant", value_name = "NAMESPACES=RIGHTS")]
    grants: Vec<Grant>,
    /// The agent that it belongs to: it acts as this one, and as no other
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// The best grade of what is written with it: admin, agent_verified, tool, agent, user_input, external
    #[arg(long, value_name = "GRADE")]
    source: Option<SourceKind>,
    /// When it ends: a time, or a span from now such as 90d
    #[arg(long, value_name = "WHEN", value_parser = end)]
    expires: Option<Timestamp>,
}

#[derive(Debug, Args)]
struct RevokeArgs {
    /// Its id, the part between the underscores
    #[arg(value_name = "ID")]
    id: TokenId,
}

/// A token as a program reads it.
#[derive(Serialize)]
struct Made<'a> {
    token: &'a str,
    credential: &'a Credential,
}

fn end(text: &str) -> Result<Timestamp, String> {
    match text.parse::<Span>() {
        Ok(span) => Ok(clock::now().plus_ms(span.as_ms())),
        Err(_) => text.parse::<Timestamp>().map_err(|bad| format!("{bad}, or a span such as 90d")),
    }
}

/// Carries it out.
pub(crate) async fn run(args: TokenArgs, globals: Globals, out: &mut Out) -> Result<(), Failure> {
    let store = args.data.as_deref().map(TokenStore::of);
    match args.action {
        TokenAction::Generate => out.line(&Token::random()?.expose()),
        TokenAction::Create(args) => {
            let wish = wish(*args, &globals)?;
            let (token, credential) = match store {
                Some(store) => {
                    let (token, credential) = store.create(wish, clock::now())?;
                    (token.expose(), credential)
                }
                None => {
                    let Wish { name, grants, source, agent_id, expires_at } = wish;
                    let wish = TokenWish { name, grants, source, agent_id, expires_at };
                    let made = Connection::new(globals)?.client().create_token(wish).await?;
                    (made.token, made.credential)
                }
            };
            show_made(&token, &credential, out)
        }
        TokenAction::List => {
            let credentials: Vec<Credential> = match store {
                Some(store) => {
                    store.load()?.credentials().map(|credential| Credential::clone(credential)).collect()
                }
                None => Connection::new(globals)?.client().tokens().await?,
            };
            if credentials.is_empty() {
                tell("there is no token: whoever reaches the server may do everything");
            }
            out.list(&credentials, |paint, width| {
                let mut table =
                    paint.table(width, &["id", "name", "allows", "grade", "agent", "state", "used"]);
                for credential in &credentials {
                    table.add_row(row(credential));
                }
                text_of(&mut table)
            })
        }
        TokenAction::Revoke(RevokeArgs { id }) => {
            let credential = match store {
                Some(store) => store.revoke(id, clock::now())?,
                None => Connection::new(globals)?.client().revoke_token(id).await?,
            };
            out.single(&credential, |_, _| {
                format!("token {} ({}) is taken back", credential.id, credential.name)
            })
        }
    }
}

fn wish(args: CreateArgs, globals: &Globals) -> Result<Wish, Failure> {
    let CreateArgs { name, rights, mut on, mut grants, agent, source, expires } = args;
    let rights: Rights = rights.into_iter().collect();
    if !rights.is_empty() {
        if on.is_empty() {
            on = match &globals.namespace {
                Some(namespace) => vec![Pattern::Exact(namespace.clone())],
                None if rights.contains(Right::Admin) => vec![Pattern::all()],
                None => {
                    let problem = "is missing: say where with --on NAMESPACE, --on 'team-*' or --on '*'";
                    return Err(Invalid::one("on", problem).into());
                }
            };
        }
        grants.extend(on.into_iter().map(|namespaces| Grant { namespaces, rights }));
    }
    Ok(Wish { name, grants, source, agent_id: agent, expires_at: expires })
}

/// The token alone on standard output, so that it can be put into a file.
fn show_made(token: &str, credential: &Credential, out: &mut Out) -> Result<(), Failure> {
    match out.wanted_format() {
        Some(Format::Json) => out.json(&Made { token, credential }),
        Some(Format::Jsonl) => out.jsonl(&Made { token, credential }),
        Some(Format::Table) | None => {
            tell(&format!(
                "token {} for {} allows {}; keep it: it can't be shown again",
                credential.id,
                credential.name,
                allowed(credential)
            ));
            out.line(token)
        }
    }
}

fn allowed(credential: &Credential) -> String {
    let grants: Vec<String> = credential.grants.iter().map(ToString::to_string).collect();
    grants.join(" ")
}

fn row(credential: &Credential) -> Vec<Cell> {
    let state = store::state_word(credential, clock::now());
    let colour = if state == "valid" { Color::Green } else { Color::DarkGrey };
    vec![
        Cell::new(credential.id),
        Cell::new(&credential.name),
        Cell::new(allowed(credential)),
        Cell::new(credential.source),
        Cell::new(credential.agent_id.as_deref().unwrap_or_default()),
        Cell::new(state).fg(colour),
        Cell::new(credential.last_used_at.map(|at| at.to_string()).unwrap_or_default()),
    ]
}
