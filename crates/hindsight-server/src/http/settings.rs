//! `/namespaces/{namespace}`: a namespace with its settings, and changing them.

use std::collections::BTreeMap;

use axum::extract::{Request, State};
use hindsight_core::consolidate::RuleKey;
use hindsight_core::likeness::LikenessKey;
use hindsight_core::{Durability, LifeKey, Namespace, SettingsPatch};
use hindsight_engine::NamespaceInfo;
use hindsight_proto::call::{self, UpdateNamespaceCall};
use http::Uri;
use serde::Serialize;

use super::{Http, Reply, answer};
use crate::app::Refusal;

#[derive(Serialize)]
struct NamespaceReply {
    name: Namespace,
    memories: u64,
    settings: SettingsReply,
    revision: u64,
    /// A write that was acknowledged with a revision up to this one can't be lost.
    durable_revision: u64,
    /// Absent where nothing was to be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    replayed: Option<bool>,
}

#[derive(Serialize)]
struct SettingsReply {
    durability: Durability,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    life: BTreeMap<LifeKey, u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    rules: BTreeMap<RuleKey, u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    likeness: BTreeMap<LikenessKey, u32>,
}

/// Shows a namespace.
pub(super) async fn show(State(http): State<Http>, request: Request) -> Reply {
    let name = name_in(request.uri())?;
    http.call(request).await?.fields.finish()?;
    let info = http.app.namespace(name.clone()).await?;
    answer(&reply(name, &info, None))
}

/// Changes settings of a namespace; `null` brings one back to its default.
pub(super) async fn change(State(http): State<Http>, request: Request) -> Reply {
    let namespace = name_in(request.uri())?;
    let mut call = http.call(request).await?;
    let request_id = call.request_id()?;
    let patch: SettingsPatch = call.fields.rest()?;
    let call = UpdateNamespaceCall { namespace: namespace.clone(), patch, request_id };
    let info = http.app.update_namespace(call).await?;
    answer(&reply(namespace, &info, Some(info.replayed)))
}

/// The last part of the path. What a name may not have would have to be encoded there, so nothing is decoded.
fn name_in(uri: &Uri) -> Result<Namespace, Refusal> {
    Ok(call::namespace(uri.path().rsplit('/').next().unwrap_or_default())?)
}

fn reply(name: Namespace, info: &NamespaceInfo, replayed: Option<bool>) -> NamespaceReply {
    let set = info.settings.clone();
    NamespaceReply {
        name,
        memories: info.memories,
        settings: SettingsReply {
            durability: set.durability,
            life: set.life,
            rules: set.rules,
            likeness: set.likeness,
        },
        revision: info.revision.0,
        durable_revision: info.durable.0,
        replayed,
    }
}
