//! Counts what held and what did not, and says it.

use std::time::Instant;

/// How many failures are printed in full.
const SHOWN_MAX: u64 = 40;

/// The checks of one command.
#[derive(Debug)]
pub struct Verdict {
    name: &'static str,
    began: Instant,
    passed: u64,
    failed: u64,
}

impl Verdict {
    /// Begins a command, and says with which seed it can be repeated.
    #[must_use]
    pub fn begin(name: &'static str, seed: u64) -> Verdict {
        println!("{name}: seed {seed}");
        Verdict { name, began: Instant::now(), passed: 0, failed: 0 }
    }

    /// Counts one check; one that failed is printed with why.
    pub fn check(&mut self, what: &str, result: Result<(), String>) {
        match result {
            Ok(()) => self.passed += 1,
            Err(why) => {
                self.failed += 1;
                if self.failed <= SHOWN_MAX {
                    println!("FAILED {what}: {why}");
                }
            }
        }
    }

    /// Counts one check of a condition.
    pub fn that(&mut self, what: &str, holds: bool, otherwise: impl FnOnce() -> String) {
        self.check(what, if holds { Ok(()) } else { Err(otherwise()) });
    }

    /// Says something that is no check.
    pub fn note(&self, text: &str) {
        println!("{}: {text}", self.name);
    }

    /// Checks that failed so far.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Prints the last line and tells whether everything held. A command that checked nothing has not passed.
    #[must_use]
    pub fn end(self) -> bool {
        println!("{}: {:.1} s", self.name, self.began.elapsed().as_secs_f64());
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0 && self.passed > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_fails_the_command_and_so_does_nothing_at_all() {
        let mut verdict = Verdict::begin("test", 1);
        verdict.check("a", Ok(()));
        verdict.that("b", true, String::new);
        assert!(verdict.end());
        let mut verdict = Verdict::begin("test", 1);
        verdict.check("a", Ok(()));
        verdict.check("b", Err("no".to_owned()));
        assert_eq!(verdict.failed(), 1);
        assert!(!verdict.end());
        assert!(!Verdict::begin("test", 1).end());
    }
}
