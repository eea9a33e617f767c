//! ApiVersions: which versions of which APIs this listener serves, and the cluster's features.

use highwater_wire::messages::ApiVersionsRequest;
use highwater_wire::messages::api_versions_response::{ApiVersion, ApiVersionsResponse};
use highwater_wire::messages::api_versions_response::{FinalizedFeatureKey, SupportedFeatureKey};
use highwater_wire::{ErrorCode, Response, StrBytes, codec, versions};

use crate::api::served;
use crate::connection::ListenerKind;
use crate::features;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(ApiVersions, Both, handle);

/// The version that shows supported features also when their lowest level is 0 (KIP-1022).
const SHOWS_ZERO_FEATURES: i16 = 4;

fn handle(node: &mut Node, request: ApiVersionsRequest, reply: ReplyToken) {
    if reply.version() >= 3 && !is_valid(&request) {
        let refused =
            ApiVersionsResponse::default().with_error_code(ErrorCode::InvalidRequest.code());
        return node.kernel.reply(reply, refused);
    }
    let response = describe(node, &reply);
    node.kernel.reply(reply, response);
}

/// Answers a version that we do not know in version 0, with the ranges that we do (KIP-511).
pub(crate) fn answer_unknown_version(node: &mut Node, reply: ReplyToken) {
    let body = ApiVersionsResponse::default()
        .with_error_code(ErrorCode::UnsupportedVersion.code())
        .with_api_keys(api_keys(reply.listener()))
        .into();
    let response = Response { correlation_id: reply.correlation_id(), body };
    let parts = codec::encode_response(reply.api(), 0, &response)
        .expect("the oldest answer holds nothing but ranges");
    node.kernel.reply_raw(reply, parts);
}

fn describe(node: &Node, reply: &ReplyToken) -> ApiVersionsResponse {
    let response = ApiVersionsResponse::default().with_api_keys(api_keys(reply.listener()));
    if reply.version() < 3 {
        return response;
    }
    let finalized = node.image();
    response
        .with_supported_features(supported_features(reply.version()))
        .with_finalized_features_epoch(finalized.end.0 - 1)
        .with_finalized_features(finalized.features.iter().map(finalized_feature).collect())
}

fn api_keys(kind: ListenerKind) -> Vec<ApiVersion> {
    let row = |api| {
        let range = versions::advertised(api);
        ApiVersion::default()
            .with_api_key(api as i16)
            .with_min_version(range.min)
            .with_max_version(range.max)
    };
    let mut keys: Vec<ApiVersion> = served(kind).map(|entry| row(entry.api)).collect();
    keys.sort_by_key(|row| row.api_key);
    keys
}

fn supported_features(version: i16) -> Vec<SupportedFeatureKey> {
    features::SUPPORTED
        .iter()
        .filter(|feature| feature.min > 0 || version >= SHOWS_ZERO_FEATURES)
        .map(|feature| {
            SupportedFeatureKey::default()
                .with_name(StrBytes::from_static_str(feature.name))
                .with_min_version(feature.min)
                .with_max_version(feature.max)
        })
        .collect()
}

fn finalized_feature((name, &level): (&String, &i16)) -> FinalizedFeatureKey {
    FinalizedFeatureKey::default()
        .with_name(StrBytes::from_string(name.clone()))
        .with_max_version_level(level)
        .with_min_version_level(level)
}

/// KIP-511: name and version are of letters, digits, `.` and `-`, and neither begins nor ends with
/// one of the latter two.
fn is_valid(request: &ApiVersionsRequest) -> bool {
    is_software_word(&request.client_software_name)
        && is_software_word(&request.client_software_version)
}

fn is_software_word(word: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    word.chars().all(inner)
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.ends_with(|c: char| c.is_ascii_alphanumeric())
}
