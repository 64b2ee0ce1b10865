//! The shells run the scripts that complete commands in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use crate::program::nimlanes;

/// How a shell completes a line: `"$1"` is the script of the program, `"$2"` the line. It prints words, perhaps with a tab and help.
struct Shell {
    name: &'static str,
    arguments: &'static [&'static str],
    completes: &'static str,
}

const SHELLS: [Shell; 3] = [
    Shell {
        name: "bash",
        arguments: &["--norc", "-c"],
        completes: r#"
            source "$1"
            read -ra COMP_WORDS <<<"$2"
            [[ $2 != *' ' ]] || COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _nimlanes nimlanes "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\n' "${COMPREPLY[@]}""#,
    },
    Shell { name: "fish", arguments: &["--no-config", "-c"], completes: "source $argv[2]; complete -C $argv[3]" },
    // Only the line editor of an interactive shell completes, so one is given a terminal. The file is printed once it has done that.
    Shell {
        name: "zsh",
        arguments: &["-f", "-c"],
        completes: r#"
            export ZDOTDIR=${1:h} SCRIPT=$1
            zmodload zsh/zpty
            zpty shell zsh -d -i
            zpty -r shell text '*ready>*'
            zpty -w -n shell "$2"$'\t\C-u'"print end''ed"$'\n'
            zpty -r shell text '*ended*'
            zpty -d shell
            cat "$ZDOTDIR/words""#,
    },
];

/// Has the interactive shell write down the words that it would show.
const ZSHRC: &str = r#"
    PS1='ready>'
    autoload -Uz compinit && compinit -u -D
    source "$SCRIPT" 2>&1
    function compadd {
        if [[ -z ${@[(r)-[ADO]*]} ]]; then
            local -a words
            builtin compadd -O words "$@"
            print -rl -- $words >>"$ZDOTDIR/words"
        fi
        builtin compadd "$@"
    }
"#;

pub fn trials() -> Vec<Trial> {
    let trial = |shell: &'static Shell| {
        let is_here = Command::new(shell.name).args(["-c", "true"]).output().is_ok_and(|it| it.status.success());
        let name = format!("shells::{}_completes_commands_and_values", shell.name);
        crate::trial(&name, crate::needs(is_here, shell.name), || completes(shell))
    };
    SHELLS.iter().map(trial).collect()
}

fn completes(shell: &Shell) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(".zshrc"), ZSHRC).expect("writable");
    let script = folder.path().join("script");
    let printed = nimlanes()
        .args(["--generate", &format!("complete-{}", shell.name)])
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    fs::write(&script, printed).expect("writable");
    for (line, words) in [
        ("nimlanes posi", &["positions"][..]),
        ("nimlanes grundy --format ", &["bfile", "certificate", "csv", "summary"]),
        ("nimlanes --generate ", &["complete-bash", "complete-fish", "complete-zsh", "man"]),
        ("nimlanes profile mex_zeros --sampler ", &["perf", "pprof"]),
    ] {
        assert_eq!(completed(shell, &script, line), words.iter().map(|word| (*word).to_owned()).collect(), "{line}");
    }
}

/// The words with which a shell completes a line.
fn completed(shell: &Shell, script: &Path, line: &str) -> BTreeSet<String> {
    let _ = fs::remove_file(script.with_file_name("words"));
    let mut command = Command::new(shell.name);
    command.args(shell.arguments).args([shell.completes, "shell"]).arg(script).arg(line);
    let output = command.output().expect("it starts");
    let [words, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
    assert_eq!((output.status.success(), errors.as_str()), (true, ""), "{line}: {words}");
    words.lines().filter_map(|line| line.split('\t').next()).map(|word| word.trim().to_owned()).collect()
}
