//! What only tests may turn on stays out of every program: no dependency but that of tests names such a feature, and no
//! feature brings one along.

use super::Finding;
use super::tree::Tree;

/// Name of this rule in a finding.
pub const RULE: &str = "features";

/// Features for tests: a disk that loses, planted bugs, locks that try every order.
const OF_TESTS: &[&str] = &["testing", "loom", "shuttle"];

/// Holds the features of every member, and of every arrow between members.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        let mut report = |advice: String| findings.push(Finding::new(RULE, &package.manifest, 1, advice));
        let named = |features: &[String]| features.iter().find(|feature| is_of_tests(feature)).cloned();
        for dependency in package.dependencies.iter().filter(|dependency| !dependency.dev_only) {
            if let Some(feature) = named(&dependency.features) {
                report(format!(
                    "name feature `{feature}` of `{}` among the dev-dependencies: it is for tests, and no program has it",
                    dependency.name
                ));
            }
        }
        for (name, brings) in &package.features {
            if let Some(feature) = named(brings) {
                report(format!(
                    "take `{feature}` out of feature `{name}`: it is for tests, and no program has it"
                ));
            }
        }
    }
    findings
}

/// Of this package, or in the form `crate/feature` of another.
fn is_of_tests(feature: &str) -> bool {
    feature.rsplit('/').next().is_some_and(|name| OF_TESTS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(dev_only: bool, arrow: &[&str], features: &[(&str, &[&str])]) -> usize {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut tree = Tree::of_arrow("hindsight-engine", "Cargo.toml", "hindsight-storage", dev_only);
        let package = &mut tree.packages[0];
        package.dependencies[0].features = owned(arrow);
        package.features =
            features.iter().map(|(name, brings)| ((*name).to_owned(), owned(brings))).collect();
        check(&tree).len()
    }

    #[test]
    fn tests_may_turn_it_on_and_programs_may_not() {
        assert_eq!(count(true, &["testing"], &[("testing", &[])]), 0);
        assert_eq!(count(false, &["std"], &[]), 0);
        assert_eq!(count(false, &["testing"], &[]), 1);
    }

    #[test]
    fn no_feature_brings_it_along() {
        assert_eq!(count(true, &[], &[("default", &["testing"])]), 1);
        assert_eq!(count(true, &[], &[("fast", &["hindsight-storage/testing"])]), 1);
        assert_eq!(count(true, &[], &[("fast", &["hindsight-storage?/loom", "serde"])]), 1);
    }
}
