//! hindsight-core
