//! What the built-in embedder costs: load time, memory, and microseconds per text.
//!
//! Run with `cargo run --release -p hindsight-embed --example embed_speed`.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use hindsight_embed::{Embedder, StaticEmbedder};

const ROUNDS: usize = 41;

fn main() -> Result<(), Box<dyn Error>> {
    let before = resident_kib()?;
    let start = Instant::now();
    let embedder = StaticEmbedder::load()?;
    println!("load             {:>9.2} ms", start.elapsed().as_secs_f64() * 1e3);
    println!("memory of it     {:>9} KiB", resident_kib()? - before);

    let english = sentences(
        &["Alice", "The customer", "Our tester", "The new agent", "Robert"],
        &[" said that ", " forgot that ", " wrote in March that ", " insists that ", " doubts that "],
        &[
            "the nightly backup",
            "her peanut allergy",
            "the staging cluster",
            "our refund policy",
            "his piano lesson",
        ],
        &[
            " needs attention.",
            " was discussed twice.",
            " is more important than the rest.",
            " changed on Friday.",
        ],
    );
    let chinese = sentences(
        &["小李", "那位客户", "我们的测试员", "新来的助手", "王老师"],
        &["上周说过，", "总是忘记", "在三月写道，", "一直坚持认为", "不太相信"],
        &["每晚的备份", "她对花生过敏这件事", "预发布集群", "我们的退款政策", "他的钢琴课"],
        &["需要留意。", "已经讨论过两次了。", "比其他事情更重要。", "在周五有变化。"],
    );
    let long: Vec<String> =
        english.chunks_exact(5).map(|five| five.join(" ").chars().take(200).collect::<String>()).collect();
    report(&embedder, "English sentence", &english)?;
    report(&embedder, "Chinese sentence", &chinese)?;
    report(&embedder, "200 characters", &long)?;
    report(&embedder, "64 KiB of English", &[english.join(" ").repeat(4).chars().take(65_536).collect()])?;
    report(&embedder, "64 KiB of one letter", &["a".repeat(65_536)])?;
    println!("memory at the end{:>9} KiB more than before", resident_kib()? - before);
    Ok(())
}

/// Every combination, so that no two texts of a round are the same.
fn sentences(who: &[&str], how: &[&str], what: &[&str], end: &[&str]) -> Vec<String> {
    let mut sentences = Vec::new();
    for who in who {
        for how in how {
            for what in what {
                sentences.extend(end.iter().map(|end| format!("{who}{how}{what}{end}")));
            }
        }
    }
    sentences
}

/// The median of the rounds, each over all texts, alone and as one batch.
fn report(embedder: &dyn Embedder, name: &str, texts: &[String]) -> Result<(), Box<dyn Error>> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let count = u32::try_from(texts.len())?;
    let mut alone = Vec::with_capacity(ROUNDS);
    let mut batch = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for text in &texts {
            black_box(embedder.embed_one(black_box(text))?);
        }
        alone.push(start.elapsed() / count);
        let start = Instant::now();
        black_box(embedder.embed(black_box(&texts))?);
        batch.push(start.elapsed() / count);
    }
    let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
    println!(
        "{name:<22} {:>9.2} µs each, {:>9.2} µs in a batch ({} texts of {} characters)",
        micros(median(alone)),
        micros(median(batch)),
        texts.len(),
        characters / texts.len(),
    );
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Memory this process holds, from the kernel's own count.
fn resident_kib() -> Result<i64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS in /proc/self/status")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
