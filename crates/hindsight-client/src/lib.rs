//! hindsight-client
