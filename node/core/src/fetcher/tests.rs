//! Tests of the fetcher: answers that come late, twice, or from the wrong epoch.
