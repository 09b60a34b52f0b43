//! What a request brings: a JSON body or query parameters, and a few headers.

use axum::extract::{Query, Request};
use hindsight_core::{Filter, Invalid, Namespace};
use hindsight_engine::WriteOptions;
use http::{HeaderMap, Uri};
use serde_json::{Map, Value};

use super::{body, fields::Fields, json};
use crate::access::{self, http::NAMESPACE};
use crate::app::{Budget, Refusal, Share};

/// The request id as a header.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The version that a change is about, as a header.
const IF_MATCH: &str = "if-match";

/// The fields of a request, and its headers.
pub(super) struct Call {
    pub(super) fields: Fields,
    headers: HeaderMap,
    /// What the door decided about it.
    admitted: Option<access::Call>,
    /// Held as long as the call is: what its body became lives as long.
    _share: Share,
}

impl Call {
    /// Reads the body; a request without one brings its fields as query parameters.
    ///
    /// # Errors
    /// When too much is being read, the body is too large or no JSON object, or both are there.
    pub(super) async fn of(request: Request, body_max: usize, budget: &Budget) -> Result<Call, Refusal> {
        let share = budget.share(body::length(&request, body_max)).await?;
        let (parts, bytes) = body::read(request, body_max).await?;
        let has_query = parts.uri.query().is_some_and(|query| !query.is_empty());
        let fields = match (bytes.is_empty(), has_query) {
            (false, true) => {
                return Err(Invalid::one("body", "comes with query parameters: give one of them").into());
            }
            (true, true) => Fields::of_map(of_query(&parts.uri)?),
            // A GET without anything is complete; elsewhere the missing body is told by the first missing field.
            (true, false) => Fields::of_map(Map::new()),
            (false, false) => Fields::of_body(&bytes)?,
        };
        let admitted = parts.extensions.get::<access::Call>().cloned();
        Ok(Call { fields, headers: parts.headers, admitted, _share: share })
    }

    /// The namespace, of the fields, of the header, or the only one of the caller's credential: decided by the locks.
    ///
    /// # Errors
    /// When there is none, it can't name one, or the caller may not do this there.
    pub(super) fn namespace(&mut self) -> Result<Namespace, Refusal> {
        let header = text(&self.headers, NAMESPACE)?;
        let named = self.fields.namespace_named(header)?;
        let admitted = self.admitted.as_ref().ok_or_else(Refusal::internal)?;
        let decided = admitted.enter(named.as_deref().unwrap_or_default(), self.fields.says("observe"))?;
        match decided {
            Some(namespace) => Ok(namespace),
            None => Ok(Fields::namespace_of(named.as_deref())?),
        }
    }

    /// As [`Call::namespace`], for a call that may be about all namespaces.
    ///
    /// # Errors
    /// When it can't name one, or the caller may not do this there.
    pub(super) fn optional_namespace(&mut self) -> Result<Option<Namespace>, Refusal> {
        let header = text(&self.headers, NAMESPACE)?;
        let named = self.fields.namespace_named(header)?;
        let admitted = self.admitted.as_ref().ok_or_else(Refusal::internal)?;
        let decided = admitted.enter(named.as_deref().unwrap_or_default(), false)?;
        match (decided, named) {
            (None, Some(named)) => Ok(Some(Fields::namespace_of(Some(&named))?)),
            (decided, _) => Ok(decided),
        }
    }

    /// The request id, of the fields or of the header.
    ///
    /// # Errors
    /// When they differ.
    pub(super) fn request_id(&mut self) -> Result<Option<String>, Invalid> {
        let field: Option<String> = self.fields.take("request_id")?;
        let header = text(&self.headers, IDEMPOTENCY_KEY)?.map(str::to_owned);
        match (field, header) {
            (Some(field), Some(header)) if field != header => {
                Err(Invalid::one("request_id", "is not the Idempotency-Key header: give one of them"))
            }
            (field, header) => Ok(field.or(header)),
        }
    }

    /// A header, if it is there.
    ///
    /// # Errors
    /// When it is not ASCII.
    pub(super) fn header(&self, name: &str) -> Result<Option<&str>, Invalid> {
        text(&self.headers, name)
    }

    /// The version that a change is about, of the fields or of the header `If-Match`.
    ///
    /// # Errors
    /// When they differ, or the header holds no version.
    pub(super) fn version(&mut self) -> Result<Option<u64>, Invalid> {
        let field: Option<u64> = self.fields.take("version")?;
        let header = match text(&self.headers, IF_MATCH)?.filter(|tag| *tag != "*") {
            None => None,
            Some(tag) => {
                let bad =
                    || Invalid::one(IF_MATCH, "is no version: expected one such as \"3\", as ETag has it");
                Some(tag.trim().trim_matches('"').parse().map_err(|_| bad())?)
            }
        };
        match (field, header) {
            (Some(field), Some(header)) if field != header => {
                Err(Invalid::one("version", "is not the If-Match header: give one of them"))
            }
            (field, header) => Ok(field.or(header)),
        }
    }

    /// How a write is carried out.
    ///
    /// # Errors
    /// Those of its fields.
    pub(super) fn options(&mut self) -> Result<WriteOptions, Invalid> {
        let validate_only = self.fields.take("validate_only")?.unwrap_or(false);
        let on_duplicate = self.fields.take("on_duplicate")?;
        let allow_forgotten = self.fields.take("allow_forgotten")?.unwrap_or(false);
        Ok(WriteOptions { validate_only, on_duplicate, request_id: self.request_id()?, allow_forgotten })
    }

    /// `filter`, or `filters`.
    ///
    /// # Errors
    /// When both are there, or it can't be read.
    pub(super) fn filter(&mut self) -> Result<Option<Filter>, Invalid> {
        self.fields.take_either("filter", "filters")
    }
}

/// What both conditions allow; an empty one allows everything.
pub(super) fn both(filter: Option<Filter>, mut flat: Filter) -> Filter {
    match filter {
        None => flat,
        Some(filter) if flat == Filter::default() => filter,
        Some(filter) => {
            flat.all.push(filter);
            flat
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Invalid> {
    let value = headers.get(name).map(|value| value.to_str());
    value.transpose().map_err(|_| Invalid::one(name, "is not ASCII"))
}

/// Query parameters as JSON: one that occurs often is a list, a filter is JSON text, and numbers and truths are read as
/// what they are.
fn of_query(uri: &Uri) -> Result<Map<String, Value>, Invalid> {
    let bad = |_| Invalid::one("query", "is no list of parameters: expected name=value&name=value");
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).map_err(bad)?;
    let mut map = Map::new();
    for (name, text) in pairs {
        let value = match name.as_str() {
            "filter" | "filters" => {
                json::parse(text.as_bytes()).map_err(|invalid| invalid.under(&format!("{name}: ")))?
            }
            "page_size" | "after_revision" | "ids_only" | "last" | "max_turns" | "max_bytes"
            | "expected_count" | "min_importance" | "min_confidence" | "validate_only" | "transient"
            | "whole_namespace" => json::parse(text.as_bytes()).unwrap_or(Value::String(text)),
            _ => Value::String(text),
        };
        match map.get_mut(&name) {
            None => {
                map.insert(name, value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_become_fields() {
        let uri: Uri = "/x?ids=a&ids=b&validate_only=true&page_size=-1&task_type=%E8%AE%A2%E5%8D%95&filter=%7B%22tag%22%3A%22t%22%7D&ids=c"
            .parse()
            .unwrap();
        let map = of_query(&uri).unwrap();
        let expected = json!({"ids": ["a", "b", "c"], "validate_only": true, "page_size": -1, "task_type": "订单",
            "filter": {"tag": "t"}});
        assert_eq!(Value::Object(map), expected);
        assert!(of_query(&"/x?filter=%7B".parse().unwrap()).is_err());
    }

    #[test]
    fn conditions_are_joined() {
        let tagged = Filter { tags: vec!["a".into()], ..Filter::default() };
        let typed = Filter { task_types: vec!["b".into()], ..Filter::default() };
        assert_eq!(both(None, tagged.clone()), tagged);
        assert_eq!(both(Some(tagged.clone()), Filter::default()), tagged);
        let joined = both(Some(tagged.clone()), typed);
        assert_eq!((joined.task_types.len(), joined.all), (1, vec![tagged]));
    }
}
