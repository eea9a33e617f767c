//! Known defects as replaced rules, one file each.
