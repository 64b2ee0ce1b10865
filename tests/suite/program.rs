//! The program, as tests start it.

/// The program, without the settings that the environment may have for it.
pub fn nimlanes() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::cargo_bin("nimlanes").expect("the program is built for its tests");
    for setting in ["NIMLANES_ISA_MAX", "NIMLANES_KERNEL", "NIMLANES_SAMPLER"] {
        command.env_remove(setting);
    }
    command
}

/// The same without llvm-mca, which takes most of the time of a short profile.
pub fn without_tools() -> assert_cmd::Command {
    let mut program = nimlanes();
    program.env("PATH", "");
    program
}
