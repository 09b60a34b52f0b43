//! hindsight-server
