//! hindsight-proto
