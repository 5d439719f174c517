//! Interpreters as people have them: venvs with packages, builds with a shared library, moved ones, and broken ones.

use std::path::{Path, PathBuf};

use super::*;

fn run(program: &Path, args: &[&str]) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a test makes the interpreters that it needs")]
    let output = std::process::Command::new(program).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What a box says of a right answer that also tells its version, and of a wrong one.
fn judges(python: &Path, problem: Problem, right: &str) {
    let judge = judge_in(None, python.to_str().unwrap(), vec![problem]);
    let said = judge.judge_completion("one", right).unwrap();
    assert!(said.passed(), "{}: {said:#?}", python.display());
    let wrong = judge.judge_completion("one", "    return 0\n").unwrap();
    assert_eq!(told(&wrong), "assertion_failure", "{}: {wrong:#?}", python.display());
    let asked = run(python, &["-c", "import sys; print(sys.version.split()[0])"]).unwrap();
    let toolchain = judge.language().toolchains()["python"].clone();
    assert!(toolchain.contains(&asked), "{toolchain} is not {asked}");
}

/// Real interpreters of the machine, as its version manager has them.
fn installed() -> Vec<PathBuf> {
    let question = "import sys; print(sys.base_prefix)";
    let prefix = run(Path::new("python3"), &["-c", question]).map(PathBuf::from);
    let Some(versions) = prefix.as_deref().and_then(Path::parent).filter(|path| path.ends_with("versions"))
    else {
        return Vec::new();
    };
    #[expect(clippy::disallowed_methods, reason = "the order of interpreters does not matter")]
    let found = std::fs::read_dir(versions).unwrap().map(|entry| entry.unwrap().path().join("bin/python3"));
    let works = "import sys; sys.exit(sys.version_info < (3, 8))";
    found.filter(|path| run(path, &["-c", works]).is_some()).collect()
}

#[test]
fn every_interpreter_of_the_machine_judges() {
    let found = installed();
    if found.is_empty() {
        eprintln!("skipped: there is one interpreter only on this machine");
    }
    for python in &found {
        judges(python, one_in_python(), "    return values[0]\n");
    }
}

#[test]
fn a_build_that_was_moved_finds_its_library() {
    let Some(python) = installed().into_iter().next() else {
        eprintln!("skipped: no interpreter with a shared library is on this machine");
        return;
    };
    let prefix = PathBuf::from(run(&python, &["-c", "import sys; print(sys.base_prefix)"]).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let moved = folder.path().join("local");
    let copy = ["-a", prefix.to_str().unwrap(), moved.to_str().unwrap()];
    run(Path::new("cp"), &copy).unwrap();
    // As an image of a container has it: the library is beside, and only the loader's own setting names the place.
    let real = std::fs::canonicalize(moved.join("bin/python3")).unwrap();
    let start = folder.path().join("python3");
    let script = format!(
        "#!/bin/sh\nLD_LIBRARY_PATH={} exec {} \"$@\"\n",
        moved.join("lib").display(),
        real.display()
    );
    std::fs::write(&start, script).unwrap();
    run(Path::new("chmod"), &["755", start.to_str().unwrap()]).unwrap();
    judges(&start, one_in_python(), "    return values[0]\n");
}

fn venv(folder: &Path) -> PathBuf {
    run(Path::new("python3"), &["-m", "venv", "--without-pip", folder.to_str().unwrap()]).expect("a venv");
    folder.join("bin/python3")
}

#[test]
fn packages_of_a_venv_are_there_and_missing_ones_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let python = venv(&folder.path().join("env"));
    let packages = run(&python, &["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).unwrap();
    std::fs::write(Path::new(&packages).join("first_of.py"), "def first(x): return x[0]\n").unwrap();
    let answer = "    import first_of\n    return first_of.first(values)\n";
    judges(&python, one_in_python(), answer);
    // Elsewhere it is a name that nobody knows, and the model's own invention.
    let judge = super::python(vec![one_in_python()]);
    assert_eq!(told(&judge.judge_completion("one", answer).unwrap()), "runtime_error");
}

#[test]
fn a_missing_module_is_never_the_models_failure() {
    let judge = judge_in(None, "python3", vec![one_in_python()]);
    let uses = "    import tensorflow\n    return tensorflow.first(values)\n";
    let said = judge.judge_completion("one", uses).unwrap();
    assert_eq!(told(&said), "infra_missing_module", "{said:#?}");
    assert_eq!(said.error.as_deref(), Some("the interpreter has no module `tensorflow`"));
    assert_eq!((said.test_ok, said.border), (None, None));
    for (prompt, test) in [("import xgboost_of_the_task\n", ""), ("", "import xgboost_of_the_task\n")] {
        let one = one_in_python();
        let problem =
            Problem { prompt: format!("{prompt}{}", one.prompt), test: format!("{test}{}", one.test), ..one };
        let judge = super::python(vec![problem]);
        for answer in ["    return values[0]\n", "    return 0\n"] {
            let said = judge.judge_completion("one", answer).unwrap();
            assert_eq!(told(&said), "infra_missing_module", "{said:#?}");
        }
    }
    // What nobody uses is not missing: the answer is judged by what it does.
    for (body, told_) in [("return values[0]", "passed"), ("return 0", "assertion_failure")] {
        for import in ["import tensorflow", "import tensorflow as tf", "from tensorflow import keras"] {
            let said = judge.judge_completion("one", &format!("    {import}\n    {body}\n")).unwrap();
            assert_eq!(told(&said), told_, "{import} {said:#?}");
        }
    }
    let tries = "    try:\n        import tensorflow\n    except ImportError:\n        return values[0]\n";
    assert_eq!(told(&judge.judge_completion("one", tries).unwrap()), "passed");
    // What is there is not missing, whatever an answer claims.
    let claim = "    raise ModuleNotFoundError(\"No module named 'json'\", name='json')\n";
    assert_eq!(told(&judge.judge_completion("one", claim).unwrap()), "runtime_error");
}

#[test]
fn an_interpreter_that_does_not_judge_is_the_machines_fault() {
    let folder = tempfile::tempdir().unwrap();
    let script = |path: &Path, text: &str| {
        std::fs::write(path, text).unwrap();
        run(Path::new("chmod"), &["755", path.to_str().unwrap()]).unwrap();
    };
    // It says that it is installed where there is no interpreter that runs.
    let (start, fake) = (folder.path().join("python3"), folder.path().join("fake"));
    let inside = fake.join("bin/python3");
    std::fs::create_dir_all(fake.join("bin")).unwrap();
    script(&inside, "#!/bin/false\n");
    script(
        &start,
        &format!("#!/bin/sh\necho {}\necho {}\necho cpython 3.11\n", fake.display(), inside.display()),
    );
    let judge = judge_in(None, start.to_str().unwrap(), vec![one_in_python()]);
    let said = judge.judge_completion("one", "    return values[0]\n").unwrap();
    assert_eq!(told(&said), "infra_toolchain_broken", "{said:#?}");
    assert!(judge.language().toolchains().is_empty());
    let none = judge_in(None, folder.path().join("nothing").to_str().unwrap(), vec![one_in_python()]);
    let said = none.judge_completion("one", "    return values[0]\n").unwrap();
    assert_eq!(told(&said), "infra_missing_toolchain", "{said:#?}");
}
