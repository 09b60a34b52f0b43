//! `cargo bench`: the benches of `hindsight-bench recall`, `tenants` and `ingest` on little data, to see at a glance whether
//! something is off. The figures in `docs/performance.md` are those of the commands themselves.
#![forbid(unsafe_code)]

use clap::Parser as _;
use hindsight_bench::{ingest, recall, tenants};

fn main() -> anyhow::Result<()> {
    println!("recall, 5,000 memories");
    recall::run(&recall::Args::parse_from([
        "recall",
        "--memories",
        "5000",
        "--recalls",
        "200",
        "--no-graph",
    ]))?;
    println!("tenants, 5,000 memories in 20 namespaces, 200 namespaces of 10");
    let few = ["--namespaces", "20", "--memories", "5000", "--small", "200", "--recalls", "200"];
    tenants::run(&tenants::Args::parse_from(["tenants"].into_iter().chain(few)))?;
    println!("ingest, 5,000 memories");
    ingest::run(&ingest::Args::parse_from(["ingest", "--memories", "5000", "--writes", "200"]))
}
