//! Where a value that every command needs comes from: a flag, else the environment, else the project's
//! `hindsight.toml`, else the profile in the user's own `~/.config/hindsight/config.toml`, else the default.
//!
//! IMPORTANT: the project's file may name a profile, a namespace and an output format, and nothing else. It comes with
//! whatever folder one happens to stand in; if it could name a server, the user's token would go there.

mod files;

use std::path::PathBuf;

use clap::parser::ValueSource;
use hindsight_core::{Namespace, time::Span};

use crate::cli::{GlobalFlags, TlsFlags};
use crate::failure::Failure;
use crate::output::Format;

use files::{Files, Profile};

/// Where the server is looked for when nothing says where it is.
const SERVER: &str = "http://127.0.0.1:7420";
/// How long a call may take when nothing says how long.
const TIMEOUT_SECONDS: i64 = 10;

/// What every command goes by.
#[derive(Debug, Clone)]
pub(crate) struct Globals {
    pub(crate) server: String,
    pub(crate) namespace: Option<Namespace>,
    pub(crate) token: Option<String>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) tls: TlsFlags,
    pub(crate) output: Option<Format>,
    pub(crate) timeout: Span,
    pub(crate) no_color: bool,
    /// Each value that may come from several places, and where it came from.
    pub(crate) origins: Vec<Told>,
}

/// One value and its origin, as `config show` prints it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Told {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    pub(crate) origin: String,
    /// Whether anybody set it.
    #[serde(skip)]
    pub(crate) is_set: bool,
}

/// Which of the flags were said, and which the environment gave.
pub(crate) struct Said<'a>(pub(crate) &'a clap::ArgMatches);

impl Said<'_> {
    fn origin(&self, id: &str, variable: &str) -> String {
        match self.0.value_source(id) {
            Some(ValueSource::EnvVariable) => variable.to_owned(),
            _ => format!("--{}", id.replace('_', "-")),
        }
    }
}

impl Globals {
    /// What the flags and the environment say, and defaults for the rest; no file is read.
    pub(crate) fn of_flags(flags: GlobalFlags, said: &Said<'_>) -> Globals {
        resolved(flags, said, &Files::default(), None)
    }

    /// The same with the user's and the project's files behind it.
    ///
    /// # Errors
    /// When a file can't be read or says what it may not, or there is no such profile.
    pub(crate) fn of(flags: GlobalFlags, said: &Said<'_>) -> Result<Globals, Failure> {
        let files = Files::read()?;
        let profile = files.profile(flags.use_profile.as_deref())?;
        Ok(resolved(flags, said, &files, profile))
    }
}

/// Lays the places over each other and notes which one won.
struct Resolver<'a> {
    said: &'a Said<'a>,
    profile: Option<(&'a str, &'a Profile)>,
    origins: Vec<Told>,
}

impl Resolver<'_> {
    /// The first of: what was said, what the project says, what the profile says.
    fn pick<T: Clone>(
        &mut self,
        key: &'static str,
        variable: &str,
        said: Option<T>,
        project: Option<(&T, &str)>,
        of_profile: impl Fn(&Profile) -> Option<T>,
        show: impl Fn(&T) -> String,
    ) -> Option<T> {
        let profile = self.profile.and_then(|(name, profile)| Some((of_profile(profile)?, name)));
        let (found, origin) = match (said, project, profile) {
            (Some(value), ..) => (Some(value), self.said.origin(key, variable)),
            (None, Some((value, place)), _) => (Some(value.clone()), place.to_owned()),
            (None, None, Some((value, name))) => (Some(value), format!("profile {name}")),
            (None, None, None) => (None, "default".to_owned()),
        };
        let value = found.as_ref().map(show).unwrap_or_default();
        self.origins.push(Told { key, value, origin, is_set: found.is_some() });
        found
    }

    fn default_is(&mut self, value: &str) {
        if let Some(told) = self.origins.last_mut().filter(|told| !told.is_set) {
            value.clone_into(&mut told.value);
        }
    }
}

fn resolved(
    flags: GlobalFlags,
    said: &Said<'_>,
    files: &Files,
    profile: Option<(&str, &Profile)>,
) -> Globals {
    let mut from = Resolver { said, profile, origins: Vec::new() };
    let project = files.project_place();
    let path = |path: &PathBuf| path.display().to_string();
    let server =
        from.pick("server", "HINDSIGHT_SERVER", flags.server, None, |p| p.server.clone(), String::clone);
    from.default_is(SERVER);
    let namespace = from.pick(
        "namespace",
        "HINDSIGHT_NAMESPACE",
        flags.namespace,
        files.project.namespace.as_ref().map(|name| (name, project)),
        |p| p.namespace.clone(),
        ToString::to_string,
    );
    // What the token is stands nowhere but in its file.
    let token =
        from.pick("token", "HINDSIGHT_TOKEN", flags.token, None, |_| None, |_| "(not shown)".to_owned());
    let token_file = from.pick(
        "token_file",
        "HINDSIGHT_TOKEN_FILE",
        flags.token_file,
        None,
        |p| p.token_file.clone(),
        path,
    );
    let TlsFlags { tls_ca, tls_domain, tls_client_cert, tls_client_key } = flags.tls;
    let tls = TlsFlags {
        tls_ca: from.pick("tls_ca", "HINDSIGHT_TLS_CA", tls_ca, None, |p| p.tls_ca.clone(), path),
        tls_domain: from.pick(
            "tls_domain",
            "HINDSIGHT_TLS_DOMAIN",
            tls_domain,
            None,
            |p| p.tls_domain.clone(),
            String::clone,
        ),
        tls_client_cert: from.pick(
            "tls_client_cert",
            "HINDSIGHT_TLS_CLIENT_CERT",
            tls_client_cert,
            None,
            |p| p.tls_client_cert.clone(),
            path,
        ),
        tls_client_key: from.pick(
            "tls_client_key",
            "HINDSIGHT_TLS_CLIENT_KEY",
            tls_client_key,
            None,
            |p| p.tls_client_key.clone(),
            path,
        ),
    };
    let output = from.pick(
        "output",
        "",
        flags.output,
        files.project.output.as_ref().map(|format| (format, project)),
        |p| p.output,
        |format| format!("{format:?}").to_lowercase(),
    );
    let timeout = from.pick("timeout", "", flags.timeout, None, |p| p.timeout, ToString::to_string);
    from.default_is(&format!("{TIMEOUT_SECONDS}s"));
    Globals {
        server: server.unwrap_or_else(|| SERVER.to_owned()),
        namespace,
        token,
        token_file,
        tls,
        output,
        timeout: timeout.unwrap_or(Span::from_ms(TIMEOUT_SECONDS * 1_000)),
        no_color: flags.no_color,
        origins: from.origins,
    }
}
