//! The program. Everything it does is in the library beside it, so that tests and documentation see it.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    hindsight::main()
}
