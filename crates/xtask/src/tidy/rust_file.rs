//! A Rust file as a flat list of tokens, with the lines of its functions and of what its attributes cover.
//!
//! Tokens, not a syntax tree: rules then see the inside of macros as well, and no new syntax can blind them.

use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::Finding;
use super::tree;

/// One token; a literal is reduced to its first character, so that its content can never look like code.
#[derive(Debug)]
pub struct Token {
    /// The identifier, the punctuation character or the bracket.
    pub text: String,
    /// Counted from 1.
    pub line: usize,
}

/// A function with a body.
#[derive(Debug)]
pub struct Function {
    /// Its name without path.
    pub name: String,
    /// From the line of `fn` to that of the closing brace.
    pub lines: RangeInclusive<usize>,
}

/// An attribute and the lines it covers, itself included.
#[derive(Debug)]
pub struct Attribute {
    /// Its tokens without space between them, such as `cfg(test)`.
    pub text: String,
    /// From the attribute to the end of what it stands before (or inside, for `#![..]`).
    pub lines: RangeInclusive<usize>,
    /// Written as `#![..]`.
    pub inner: bool,
}

/// What the rules ask about one Rust file.
#[derive(Debug)]
pub struct RustFile {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// Number of lines.
    pub line_count: usize,
    /// Every token in order, brackets included; the content of attributes is not among them.
    pub tokens: Vec<Token>,
    /// Every function with a body, also nested ones.
    pub functions: Vec<Function>,
    /// Every attribute; doc comments come as `doc=`.
    pub attributes: Vec<Attribute>,
    test_only: bool,
}

impl RustFile {
    /// Splits `text` into tokens.
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, Finding> {
        let stream: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| {
            let line = error.span().start().line;
            Finding::new(tree::RULE, path, line, format!("make it valid Rust: {error}"))
        })?;
        let line_count = text.lines().count();
        let mut file = Self {
            path: path.to_owned(),
            line_count,
            tokens: Vec::new(),
            functions: Vec::new(),
            attributes: Vec::new(),
            test_only: is_test_path(path),
        };
        file.walk(stream, 1..=line_count.max(1));
        Ok(file)
    }

    /// Whether the line belongs to tests, examples or benches, where panicking is the way to fail.
    #[must_use]
    pub fn is_test(&self, line: usize) -> bool {
        self.test_only
            || self
                .attributes
                .iter()
                .any(|attribute| is_test_attribute(&attribute.text) && attribute.lines.contains(&line))
    }

    /// Whether `#[expect(clippy::<lint>, ..)]` covers the line.
    #[must_use]
    pub fn expects(&self, lint: &str, line: usize) -> bool {
        self.attributes.iter().any(|attribute| {
            attribute.text.starts_with("expect(")
                && attribute.text.contains(lint)
                && attribute.lines.contains(&line)
        })
    }

    /// Lines where the given tokens stand in a row, tests left out.
    pub fn lines_with<'file>(&'file self, wanted: &'file [&str]) -> impl Iterator<Item = usize> + 'file {
        self.all_lines_with(wanted).filter(|line| !self.is_test(*line))
    }

    /// Lines where the given tokens stand in a row.
    pub fn all_lines_with<'file>(&'file self, wanted: &'file [&str]) -> impl Iterator<Item = usize> + 'file {
        self.tokens
            .windows(wanted.len())
            .filter(|tokens| tokens.iter().map(|token| token.text.as_str()).eq(wanted.iter().copied()))
            .map(|tokens| tokens[0].line)
    }

    /// Where the bodies of `#[cfg(test)] mod name;` are, relative to the workspace and without `.rs`.
    pub(super) fn test_module_paths(&self) -> Vec<String> {
        let folder = ["/lib.rs", "/main.rs", "/mod.rs"]
            .iter()
            .find_map(|ending| self.path.strip_suffix(ending))
            .or_else(|| self.path.strip_suffix(".rs"))
            .unwrap_or(&self.path);
        self.tokens
            .windows(3)
            .filter(|tokens| tokens[0].text == "mod" && tokens[2].text == ";" && self.is_test(tokens[0].line))
            .map(|tokens| format!("{folder}/{}", tokens[1].text))
            .collect()
    }

    pub(super) fn mark_as_test(&mut self) {
        self.test_only = true;
    }

    /// Reads one bracket level; `around` are the lines of the bracket pair (or the file) that holds it.
    fn walk(&mut self, stream: TokenStream, around: RangeInclusive<usize>) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let mut next = 0;
        while let Some(current) = trees.get(next) {
            if let Some((width, inner, body)) = attribute_at(&trees[next..]) {
                let first = line_of(current);
                let end = item_end(&trees[next + width..]).unwrap_or(*around.end());
                let lines = if inner { around.clone() } else { first..=end };
                self.attributes.push(Attribute { text: compact(body.stream()), lines, inner });
                next += width;
                continue;
            }
            if let Some(function) = function_at(&trees[next..]) {
                self.functions.push(function);
            }
            self.push(current);
            next += 1;
        }
    }

    fn push(&mut self, tree: &TokenTree) {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                let (first, last) = (group.span_open().start().line, group.span_close().end().line);
                self.tokens.push(Token { text: open.to_owned(), line: first });
                self.walk(group.stream(), first..=last);
                self.tokens.push(Token { text: close.to_owned(), line: last });
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string().chars().take(1).collect();
                self.tokens.push(Token { text, line: line_of(tree) });
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {
                self.tokens.push(Token { text: tree.to_string(), line: line_of(tree) });
            }
        }
    }
}

/// Code that only tests, examples and benches run, told by its place.
fn is_test_path(path: &str) -> bool {
    let folders = ["tests", "examples", "benches"];
    let inside = |path: &str| path.split('/').any(|part| folders.contains(&part));
    // The crate hindsight-bench lives in `benches/`, and its `src` is a program as any other.
    path.ends_with("/tests.rs")
        || path.starts_with("fuzz/")
        || inside(path.strip_prefix("benches/").unwrap_or(path))
}

fn is_test_attribute(text: &str) -> bool {
    let of_function = text == "test" || text.ends_with("::test") || text.starts_with("tokio::test(");
    let of_config = ["cfg(test", "cfg(any(test", "cfg(all(test"].iter().any(|start| text.starts_with(start));
    of_function || of_config
}

/// The attribute that begins `trees`: how many token trees it takes, whether it is `#![..]`, and its brackets.
fn attribute_at(trees: &[TokenTree]) -> Option<(usize, bool, &Group)> {
    if !is_punct(trees.first()?, '#') {
        return None;
    }
    let inner = trees.get(1).is_some_and(|tree| is_punct(tree, '!'));
    let width = if inner { 3 } else { 2 };
    match trees.get(width - 1)? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => Some((width, inner, group)),
        _ => None,
    }
}

/// The last line of the item or statement that begins `trees`: at its first brace pair, or its `;`.
fn item_end(trees: &[TokenTree]) -> Option<usize> {
    let mut rest = trees;
    while let Some((width, ..)) = attribute_at(rest) {
        rest = rest.get(width..)?;
    }
    rest.iter().find_map(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            Some(group.span_close().end().line)
        }
        TokenTree::Punct(punct) if punct.as_char() == ';' => Some(line_of(tree)),
        _ => None,
    })
}

/// The function whose `fn` begins `trees`, unless it has no body or is a function pointer type.
fn function_at(trees: &[TokenTree]) -> Option<Function> {
    let [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] = trees else { return None };
    if keyword != "fn" {
        return None;
    }
    let stop = |tree: &&TokenTree| {
        is_punct(tree, ';')
            || matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
    };
    match rest.iter().find(stop)? {
        TokenTree::Group(body) => {
            let lines = keyword.span().start().line..=body.span_close().end().line;
            Some(Function { name: name.to_string(), lines })
        }
        _ => None,
    }
}

fn compact(stream: TokenStream) -> String {
    let mut text = String::new();
    for tree in stream {
        match &tree {
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                text.push_str(open);
                text.push_str(&compact(group.stream()));
                text.push_str(close);
            }
            _ => text.push_str(&tree.to_string()),
        }
    }
    text
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

fn is_punct(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn line_of(tree: &TokenTree) -> usize {
    tree.span().start().line
}

#[cfg(test)]
mod tests;
