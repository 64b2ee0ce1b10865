//! The program `nimlanes`.

fn main() -> std::process::ExitCode {
    nimlanes_lab::main()
}
