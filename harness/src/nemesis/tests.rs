//! Roles against a sighted cluster; links between sides.
