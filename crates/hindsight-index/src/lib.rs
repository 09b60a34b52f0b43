//! hindsight-index
