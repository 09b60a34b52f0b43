//! hindsight-engine
