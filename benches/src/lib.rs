//! hindsight-bench
