//! Rows of every format, as published.

use super::*;

fn read(line: &str) -> Understood {
    understand(&Row::read(line.as_bytes()).unwrap()).unwrap()
}

fn refused(line: &str) -> String {
    understand(&Row::read(line.as_bytes()).unwrap()).err().unwrap().what
}

#[test]
fn plus_rows_are_tested_by_their_plus_inputs() {
    let row = |id: &str| {
        format!(
            r#"{{"task_id":"{id}","prompt":"def f(x):\n","entry_point":"f","canonical_solution":"    return x\n","test":"def check(candidate): pass","base_input":[[1]],"plus_input":[[Infinity, 123456789012345678901]],"atol":1e-06}}"#
        )
    };
    let Understood { problem, notes } = read(&row("HumanEval/2"));
    assert_eq!((problem.format, notes.len()), (Format::HumanEvalPlus, 0));
    assert!(problem.test.contains("_PLUS = '[[Infinity, 123456789012345678901]]'"), "{}", problem.test);
    assert!(problem.test.contains("_SOLUTION = 'def f(x):\\n    return x\\n'"));
    assert!(problem.test.starts_with("_DATASET, _ENTRY, _TASK, _ATOL = 'humaneval', 'f', None, 1e-6\n"));
    let problem = read(&row("Mbpp/116")).problem;
    assert_eq!(problem.format, Format::MbppPlus);
    assert!(problem.test.starts_with("_DATASET, _ENTRY, _TASK, _ATOL = 'mbpp', 'f', 116, 1e-6\n"));
}

#[test]
fn a_reference_solution_begins_on_a_line_of_its_own() {
    let line = r#"{"task_id":"HumanEval/2","prompt":"def f(x):","entry_point":"f","canonical_solution":"    return x\n","base_input":[[1]],"plus_input":[[2]]}"#;
    assert!(read(line).problem.test.contains("_SOLUTION = 'def f(x):\\n    return x\\n'"));
}

#[test]
fn a_python_prompt_names_the_function_where_its_row_does_not() {
    let row = |prompt: &str| format!(r#"{{"name":"a","prompt":"{prompt}","tests":"t"}}"#);
    let entry = |prompt: &str| read(&row(prompt)).problem.entry_point;
    assert_eq!(
        entry(r"import re\ndef help(x):\n    pass\n\ndef f (x: int) -> int:\n    pass\n").as_deref(),
        Some("f")
    );
    assert_eq!(entry(r"fn f(x: i32) -> i32 {\n"), None);
}

#[test]
fn relatives_of_humaneval_are_told_apart() {
    let row = |more: &str| format!(r#"{{"task_id":"a","prompt":"p",{more}}}"#);
    for (more, format) in [
        (r#""test":"t""#, Format::HumanEval),
        (r#""test":"t","buggy_solution":"b""#, Format::HumanEvalPack),
        (r#""test":"t","instruction":"i","level":"easy""#, Format::McEval),
        (r#""tests":"t","stop_tokens":[]"#, Format::MultiPlE),
    ] {
        assert_eq!(read(&row(more)).problem.format, format);
    }
}

#[test]
fn plus_inputs_in_an_unknown_shape_are_named() {
    let line = r#"{"task_id":"a","prompt":"p","entry_point":"f","canonical_solution":"c","test":"t","plus_input":{"in":[1]}}"#;
    let Understood { problem, notes } = read(line);
    assert_eq!((problem.format, problem.test.as_str()), (Format::HumanEval, "t"));
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("`plus_input` is not in a shape that is known here"), "{notes:?}");
}

#[test]
fn mbpp_rows_as_published() {
    let line = r#"{"text":"Write a function to add.","code":"def help(x):\r\n  return x\r\ndef add(a, b):\r\n  return a + b","task_id":7,"test_setup_code":"x = 1","test_list":["assert set(add([1], [2])) == set([1, 2])","assert add(x, 2) == 3"],"challenge_test_list":["assert add(0, 0) == 0"]}"#;
    let Understood { problem, notes } = read(line);
    assert_eq!((problem.task_id.as_str(), problem.entry_point.as_deref()), ("7", Some("add")));
    assert_eq!(
        problem.prompt,
        "\"\"\"\nWrite a function to add.\nassert set(add([1], [2])) == set([1, 2])\n\"\"\"\n"
    );
    assert_eq!(problem.test, "x = 1\nassert set(add([1], [2])) == set([1, 2])\nassert add(x, 2) == 3\n");
    assert!(problem.canonical_solution.unwrap().starts_with("def help(x):\n"));
    assert!(notes[0].contains("`challenge_test_list`"));
    let line = r#"{"prompt":"p","task_id":1,"test_imports":["import math"],"test_list":["assert math.isclose(area(1), 3.1)"]}"#;
    let problem = read(line).problem;
    assert_eq!((problem.entry_point.as_deref(), problem.format), (Some("area"), Format::Mbpp));
    assert!(problem.test.starts_with("import math\n"));
}

#[test]
fn programs_that_read_standard_input() {
    let apps = r#"{"problem_id":3,"question":"Add.","input_output":"{\"inputs\": [\"1 2\\n\"], \"outputs\": [\"3\\n\"]}","solutions":"[\"print(3)\"]"}"#;
    let problem = read(apps).problem;
    assert_eq!((problem.task_id.as_str(), problem.format), ("3", Format::Stdio));
    assert_eq!(problem.canonical_solution.as_deref(), Some("print(3)"));
    assert!(problem.test.contains("def check(candidate)"));
    let pairs = r#"{"task_id":"a","prompt":"p","inputs":["1"],"outputs":["1"]}"#;
    assert_eq!(read(pairs).problem.format, Format::Stdio);
    let called = r#"{"id":1,"question":"q","input_output":{"fn_name":"add","inputs":[[1]],"outputs":[1]}}"#;
    assert!(refused(called).contains("`add`"));
    let rust = r#"{"id":1,"question":"q","language":"rust","inputs":["1"],"outputs":["1"]}"#;
    assert!(refused(rust).contains("in Python only"));
    let answer = whole_program("Here:\n```python\nprint('a')\n```\nIt works.");
    assert!(answer.starts_with("_ANSWER = 'print(\\'a\\')\\n'\n"), "{answer}");
}

#[test]
fn numpy_is_not_needed_for_one_comparison() {
    let test = "import numpy as np\n\ndef is_floats(x):\n    return x.dtype == np.float64\n\ndef assertion(out, exp, atol):\n    assert np.allclose(out, exp)\n";
    let without = humaneval::without_numpy(test.to_owned());
    assert!(!without.contains("import numpy") && without.contains("class np:"));
    let more = format!("{test}np.zeros(3)\n");
    assert_eq!(humaneval::without_numpy(more.clone()), more, "what needs numpy keeps it");
}
