//! hindsight-storage
