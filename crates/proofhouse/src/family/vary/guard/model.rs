//! The question to a model that looks at a rewording after the rules, and how its answer is read.

/// Asks whether two instructions are the same task.
pub fn question(base: &str, rewording: &str) -> String {
    let mut fence = "---".to_owned();
    while base.contains(&fence) || rewording.contains(&fence) {
        fence.push('-');
    }
    format!(
        "Compare two instructions. They are the same task when every correct result of one is a correct result of the other: the \
         same operation on the same things, with the same numbers, conditions, order and limits. Other words do not matter.\n\n\
         First instruction:\n{fence}\n{base}\n{fence}\n\nSecond instruction:\n{fence}\n{rewording}\n{fence}\n\n\
         Answer with one word: SAME or CHANGED.\n"
    )
}

/// Whether the answer says that they are the same; nothing where it says neither, or both.
pub fn reading(answer: &str) -> Option<bool> {
    let words = || answer.split(|c: char| !c.is_alphabetic()).map(str::to_uppercase);
    match (words().any(|word| word == "SAME"), words().any(|word| word == "CHANGED")) {
        (true, false) => (!words().any(|word| word == "NOT")).then_some(true),
        (false, true) => (!words().any(|word| word == "NOT")).then_some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_read_and_nothing_is_guessed() {
        for (answer, expected) in [
            ("SAME", Some(true)),
            (" same.\n", Some(true)),
            ("**CHANGED**", Some(false)),
            ("not the same", None),
            ("SAME or CHANGED", None),
            ("", None),
            ("yes", None),
        ] {
            assert_eq!(reading(answer), expected, "{answer}");
        }
    }

    #[test]
    fn a_fence_inside_an_instruction_is_outgrown() {
        let question = question("Draw a --- line.", "Draw a ---- line.");
        assert_eq!(question.matches("\n-----\n").count(), 4);
    }
}
