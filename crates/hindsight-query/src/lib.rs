//! hindsight-query
