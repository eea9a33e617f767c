//! Which versions of each API we speak: Kafka 4.3's ranges, capped by what the codec library has.

use crate::messages::ApiKey;

/// A range of versions, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    /// The lowest.
    pub min: i16,
    /// The highest.
    pub max: i16,
}

impl VersionRange {
    /// True when the range has this version.
    pub fn contains(self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    /// The highest version that both ranges have.
    pub fn highest_common(self, other: VersionRange) -> Option<i16> {
        let highest = self.max.min(other.max);
        (highest >= self.min.max(other.min)).then_some(highest)
    }
}

/// The versions that we can decode, encode and answer.
pub fn supported(api: ApiKey) -> VersionRange {
    let known = api.valid_versions();
    // the codec library names a response's last version that it has no request for
    let max = match api {
        ApiKey::OffsetCommit | ApiKey::OffsetFetch => 9,
        ApiKey::InitProducerId => 5,
        _ => known.max,
    };
    VersionRange { min: known.min, max }
}

/// The versions that an ApiVersions answer names.
///
/// Produce is named from 0, as Kafka does for clients that look for those versions though they
/// never send them (KAFKA-18659); such a request itself is refused.
pub fn advertised(api: ApiKey) -> VersionRange {
    let range = supported(api);
    if api == ApiKey::Produce { VersionRange { min: 0, ..range } } else { range }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_common_version_is_in_both_ranges() {
        let ours = VersionRange { min: 3, max: 9 };
        assert_eq!(ours.highest_common(VersionRange { min: 0, max: 5 }), Some(5));
        assert_eq!(ours.highest_common(VersionRange { min: 9, max: 12 }), Some(9));
        assert_eq!(ours.highest_common(VersionRange { min: 10, max: 12 }), None);
        assert_eq!(ours.highest_common(VersionRange { min: 0, max: 2 }), None);
    }

    #[test]
    fn produce_is_advertised_lower_than_it_is_supported() {
        assert_eq!(advertised(ApiKey::Produce).min, 0);
        assert!(!supported(ApiKey::Produce).contains(2));
        assert_eq!(advertised(ApiKey::Fetch), supported(ApiKey::Fetch));
    }
}
