use super::*;

fn parse(text: &str) -> RustFile {
    RustFile::parse("crates/a/src/lib.rs", text).unwrap()
}

#[test]
fn functions_are_found_in_impls_and_inside_macros() {
    let file = parse(
        "fn one() {\n}\nimpl A {\n    fn two(\n        self,\n    ) -> [u8; 2] {\n        x\n    }\n}\n\
         tokio::select! { a => { fn three() {} } }\ntrait T { fn none(&self); }\ntype F = fn(u8) -> u8;\n",
    );
    let found: Vec<_> =
        file.functions.iter().map(|function| (function.name.as_str(), function.lines.clone())).collect();
    assert_eq!(found, [("one", 1..=2), ("two", 4..=8), ("three", 10..=10)]);
}

#[test]
fn an_attribute_covers_what_it_stands_before() {
    let file = parse(
        "#[cfg(test)]\n#[allow(x)]\nmod tests {\n    fn f() {}\n}\nfn g() {\n    #[expect(y)]\n    let a = b;\n    c();\n}",
    );
    assert!(file.is_test(1) && file.is_test(4) && file.is_test(5));
    assert!(!file.is_test(6));
    assert!(file.expects("y", 8));
    assert!(!file.expects("y", 9));
}

#[test]
fn an_inner_attribute_covers_what_it_stands_in() {
    let file = parse("fn g() {}\nmod m {\n    #![expect(y)]\n    fn f() {}\n}\n");
    assert!(file.expects("y", 4));
    assert!(!file.expects("y", 1));
}

#[test]
fn comments_strings_and_lifetimes_do_not_look_like_code() {
    let file = parse(
        "// x.unwrap()\n/// x.unwrap()\nfn f<'a>(s: &'a str) { g(\"x.unwrap()\", r#\"x.unwrap()\"#, '\"') }\n",
    );
    assert_eq!(file.lines_with(&[".", "unwrap", "("]).count(), 0);
}

#[test]
fn tokens_inside_macros_are_seen() {
    let file = parse("fn f() {\n    println!(\"{}\",\n        x.unwrap());\n}");
    assert_eq!(file.lines_with(&[".", "unwrap", "("]).collect::<Vec<_>>(), [3]);
}

#[test]
fn tests_are_told_by_their_place_too() {
    for (path, test) in [
        ("crates/a/tests/it/main.rs", true),
        ("crates/a/examples/loop.rs", true),
        ("crates/a/src/b/tests.rs", true),
        ("crates/a/src/b.rs", false),
        ("benches/src/main.rs", false),
        ("benches/benches/micro.rs", true),
    ] {
        assert_eq!(RustFile::parse(path, "fn f() {}").unwrap().is_test(1), test, "{path}");
    }
}

#[test]
fn code_that_is_never_tested_is_not_test_code() {
    let file = parse("#[cfg(not(test))]\nfn f() {}\n#[tokio::test]\nasync fn g() {}\n");
    assert!(!file.is_test(2));
    assert!(file.is_test(4));
}
