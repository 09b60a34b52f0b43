//! hindsight-embed
