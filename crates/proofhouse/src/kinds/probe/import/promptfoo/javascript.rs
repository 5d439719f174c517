//! The JavaScript that people write in asserts, as far as it says what a judge says: lengths, texts that are in the answer or
//! begin it, and these joined by `&&`, `||` and `!`. Anything else is not guessed at.

use serde_json::{Value, json};

/// The judge that says the same as an expression over `output`; none where there is no such judge.
pub(super) fn judge(code: &str) -> Option<Value> {
    let tokens = tokens(code)?;
    let mut parser = Parser { tokens: &tokens, at: 0, names: Vec::new() };
    parser.constants()?;
    parser.word("return");
    let said = parser.any()?;
    while parser.sign(";") {}
    (parser.at == tokens.len()).then(|| said.judge())
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(f64),
    Pattern(String, String),
    Sign(&'static str),
}

/// Longer signs before those that begin them.
const SIGNS: [&str; 25] = [
    "===", "!==", "=>", "==", "!=", ">=", "<=", "&&", "||", "?.", "(", ")", "[", "]", "{", "}", ",", ".",
    ";", ">", "<", "!", "=", "?", ":",
];

fn tokens(code: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1;
        } else if matches!(first, '\'' | '"' | '`') {
            let (text, after) = literal(rest, first)?;
            // `${…}` is filled in by a program.
            if first == '`' && text.contains("${") {
                return None;
            }
            tokens.push(Token::Text(text));
            rest = after;
        } else if first == '/' {
            let (pattern, after) = pattern(rest)?;
            tokens.push(pattern);
            rest = after;
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Number(rest[..end].replace('_', "").parse().ok()?));
            rest = &rest[end..];
        } else if first.is_alphabetic() || matches!(first, '_' | '$') {
            let end =
                rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$')).unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        }
        rest = rest.trim_start();
    }
    Some(tokens)
}

/// A text in quotes, and what follows it.
fn literal(code: &str, quote: char) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = code.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return Some((text, &code[at + c.len_utf8()..])),
            '\\' => match chars.next()?.1 {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                c if c.is_ascii_alphanumeric() => return None,
                c => text.push(c),
            },
            c => text.push(c),
        }
    }
    None
}

/// A pattern between slashes with its flags, and what follows it.
fn pattern(code: &str) -> Option<(Token, &str)> {
    let mut in_set = false;
    let mut chars = code.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()?),
            '[' => in_set = true,
            ']' => in_set = false,
            '\n' => return None,
            '/' if !in_set => {
                let rest = &code[at + 1..];
                let end = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
                // A slash needs no backslash where no slash ends the pattern.
                let body = code[1..at].replace("\\/", "/");
                return Some((Token::Pattern(body, rest[..end].to_owned()), &rest[end..]));
            }
            _ => {}
        }
    }
    None
}

/// What an expression says of an answer.
#[derive(Debug, Clone, PartialEq)]
enum Said {
    /// It holds of every answer.
    Always,
    Judge(Value),
    Any(Vec<Said>),
    All(Vec<Said>),
    Not(Box<Said>),
}

impl Said {
    fn judge(self) -> Value {
        match self {
            Said::Always => json!({"length": {"unit": "characters", "min": 0}}),
            Said::Judge(judge) => judge,
            Said::Not(said) => json!({"not": said.judge()}),
            Said::Any(list) => joined("any", list),
            // What always holds adds nothing.
            Said::All(list) => joined("all", list.into_iter().filter(|said| *said != Said::Always).collect()),
        }
    }
}

fn joined(name: &str, mut list: Vec<Said>) -> Value {
    match list.len() {
        0 => Said::Always.judge(),
        1 => list.remove(0).judge(),
        _ => json!({ name: {"of": list.into_iter().map(Said::judge).collect::<Vec<_>>()} }),
    }
}

/// What has been done to the answer before it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Form {
    lower: bool,
    trimmed: bool,
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    /// Names that stand for the answer in some form.
    names: Vec<(String, Form)>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn sign(&mut self, sign: &str) -> bool {
        let is_there = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn word(&mut self, word: &str) -> bool {
        let is_there = matches!(self.peek(), Some(Token::Word(found)) if found == word);
        self.at += usize::from(is_there);
        is_there
    }

    /// `const v = output.toLowerCase();`
    fn constants(&mut self) -> Option<()> {
        while self.word("const") || self.word("let") {
            let Some(Token::Word(name)) = self.next() else { return None };
            if !self.sign("=") {
                return None;
            }
            let form = self.answer()?;
            self.sign(";");
            self.names.push((name, form));
        }
        Some(())
    }

    fn any(&mut self) -> Option<Said> {
        let mut list = vec![self.all()?];
        while self.sign("||") {
            list.push(self.all()?);
        }
        Some(if list.len() == 1 { list.remove(0) } else { Said::Any(list) })
    }

    fn all(&mut self) -> Option<Said> {
        let mut list = vec![self.one()?];
        while self.sign("&&") {
            list.push(self.one()?);
        }
        Some(if list.len() == 1 { list.remove(0) } else { Said::All(list) })
    }

    fn one(&mut self) -> Option<Said> {
        if self.sign("!") {
            return Some(Said::Not(Box::new(self.one()?)));
        }
        if self.sign("(") {
            let said = self.any()?;
            return self.sign(")").then_some(said);
        }
        if self.sign("[") {
            return self.list();
        }
        if let Some(Token::Pattern(pattern, flags)) = self.peek().cloned() {
            self.at += 1;
            let called = self.sign(".") && self.word("test") && self.sign("(");
            let form = if called { self.answer()? } else { return None };
            return if self.sign(")") { matches(&pattern, &flags, form) } else { None };
        }
        if self.word("typeof") {
            let is_text = self.answer()? == Form::default() && (self.sign("===") || self.sign("=="));
            return (is_text && self.next() == Some(Token::Text("string".to_owned())))
                .then_some(Said::Always);
        }
        let form = self.answer()?;
        self.said_of(form)
    }

    /// The answer, in lower case or trimmed, as far as the chain says so.
    fn answer(&mut self) -> Option<Form> {
        let Some(Token::Word(word)) = self.next() else { return None };
        let mut form = match word.as_str() {
            "output" => Form::default(),
            "String" => {
                let form = if self.sign("(") { self.answer()? } else { return None };
                if !self.sign(")") {
                    return None;
                }
                form
            }
            name => self.names.iter().find(|(known, _)| known == name)?.1,
        };
        loop {
            let before = self.at;
            if !(self.sign(".") || self.sign("?.")) {
                return Some(form);
            }
            let Some(Token::Word(method)) = self.next() else { return None };
            match method.as_str() {
                "toLowerCase" => form.lower = true,
                "trim" => form.trimmed = true,
                "toString" => {}
                _ => {
                    self.at = before;
                    return Some(form);
                }
            }
            if !(self.sign("(") && self.sign(")")) {
                return None;
            }
        }
    }

    /// What is asked of the answer at the end of a chain.
    fn said_of(&mut self, form: Form) -> Option<Said> {
        if !(self.sign(".") || self.sign("?.")) {
            if self.sign("===") || self.sign("==") {
                let value = self.text()?;
                return equal(value, form);
            }
            // The answer alone holds where there is one.
            let some = if form.trimmed { json!({"regex": {"pattern": "\\S"}}) } else { at_least(1)? };
            return Some(Said::Judge(some));
        }
        let Some(Token::Word(method)) = self.next() else { return None };
        match method.as_str() {
            "length" => self.length(form),
            "includes" | "startsWith" | "endsWith" => {
                let text = if self.sign("(") { self.text()? } else { return None };
                if self.sign(")") { part(&method, text, form) } else { None }
            }
            "split" => {
                let lines =
                    self.sign("(") && self.next() == Some(Token::Text("\n".to_owned())) && self.sign(")");
                let counted = lines && self.sign(".") && self.word("length");
                if counted && form == Form::default() { self.compared(&lines_at_least) } else { None }
            }
            "match" => {
                let pattern = if self.sign("(") { self.next()? } else { return None };
                match pattern {
                    Token::Pattern(pattern, flags) if self.sign(")") => matches(&pattern, &flags, form),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A text, or a variable of the test.
    fn text(&mut self) -> Option<Needle> {
        match self.next()? {
            Token::Text(text) => Some(Needle { text, filled: false }),
            Token::Word(word) if word == "context" || word == "vars" => {
                let vars = word == "vars" || (self.sign(".") && self.word("vars"));
                if !(vars && self.sign(".")) {
                    return None;
                }
                let Some(Token::Word(name)) = self.next() else { return None };
                // Another step would be a field of the variable.
                let ends = !matches!(self.peek(), Some(Token::Sign("." | "?." | "[" | "(")));
                ends.then(|| Needle { text: format!("{{{{ {name} }}}}"), filled: true })
            }
            _ => None,
        }
    }

    fn length(&mut self, form: Form) -> Option<Said> {
        match form.trimmed {
            true => self.compared(&trimmed_at_least),
            false => self.compared(&at_least),
        }
    }

    /// A count against a number, by what it means that there are at least so many.
    fn compared(&mut self, at_least: &dyn Fn(u32) -> Option<Value>) -> Option<Said> {
        let Some(Token::Sign(sign)) = self.next() else { return None };
        let Some(Token::Number(number)) = self.next() else { return None };
        if number.fract() != 0.0 || !(0.0..=1e6).contains(&number) {
            return None;
        }
        let number = number as u32;
        let least = |count: u32| -> Option<Said> {
            Some(if count == 0 { Said::Always } else { Said::Judge(at_least(count)?) })
        };
        let fewer = |count: u32| least(count).map(|said| Said::Not(Box::new(said)));
        match sign {
            ">=" => least(number),
            ">" => least(number + 1),
            "<" => fewer(number),
            "<=" => fewer(number + 1),
            "===" | "==" => Some(Said::All(vec![least(number)?, fewer(number + 1)?])),
            "!==" | "!=" => Some(Said::Any(vec![fewer(number)?, least(number + 1)?])),
            _ => None,
        }
    }

    /// `['a', 'b'].some(s => output.includes(s))`
    fn list(&mut self) -> Option<Said> {
        let mut texts = Vec::new();
        loop {
            match self.next()? {
                Token::Text(text) => texts.push(text),
                Token::Sign("]") => break,
                _ => return None,
            }
            if !self.sign(",") {
                self.sign("]").then_some(())?;
                break;
            }
        }
        self.sign(".").then_some(())?;
        let every = match self.next()? {
            Token::Word(word) if word == "some" => false,
            Token::Word(word) if word == "every" => true,
            _ => return None,
        };
        self.sign("(").then_some(())?;
        let round = self.sign("(");
        let Some(Token::Word(name)) = self.next() else { return None };
        if round && !self.sign(")") || !self.sign("=>") {
            return None;
        }
        let form = self.answer()?;
        let called = self.sign(".") && self.word("includes") && self.sign("(") && self.word(&name);
        if !(called && self.sign(")") && self.sign(")")) {
            return None;
        }
        let each: Option<Vec<Said>> =
            texts.into_iter().map(|text| part("includes", Needle { text, filled: false }, form)).collect();
        Some(if every { Said::All(each?) } else { Said::Any(each?) })
    }
}

/// A text that is looked for; one that a case fills is not known yet.
struct Needle {
    text: String,
    filled: bool,
}

fn at_least(count: u32) -> Option<Value> {
    Some(json!({"length": {"unit": "characters", "min": count}}))
}

fn trimmed_at_least(count: u32) -> Option<Value> {
    let pattern = match count {
        1 => "\\S".to_owned(),
        // Longer ones would make a pattern that is too large.
        2..=5_000 => format!("(?s)\\S.{{{},}}\\S", count - 2),
        _ => return None,
    };
    Some(json!({"regex": {"pattern": pattern}}))
}

fn lines_at_least(count: u32) -> Option<Value> {
    match count {
        1 => Some(Said::Always.judge()),
        2..=500 => Some(json!({"regex": {"pattern": format!("(?:\\n[^\\n]*){{{}}}", count - 1)}})),
        _ => None,
    }
}

fn equal(needle: Needle, form: Form) -> Option<Said> {
    let fits = !form.lower || (!needle.filled && needle.text == needle.text.to_lowercase());
    fits.then(|| {
        Said::Judge(
            json!({"equals": {"value": needle.text, "trim": form.trimmed, "ignore_case": form.lower}}),
        )
    })
}

/// A text somewhere in the answer, at its begin or at its end.
fn part(method: &str, needle: Needle, form: Form) -> Option<Said> {
    let Needle { text, filled } = needle;
    if text.is_empty() {
        return Some(Said::Always);
    }
    // What is in lower case holds no capital.
    if form.lower && (filled || text != text.to_lowercase()) {
        return None;
    }
    let plain = !form.trimmed || text.trim() == text;
    let judge = match method {
        "includes" if plain && form.lower => json!({"contains": {"value": text, "ignore_case": true}}),
        "includes" if plain => json!({"contains": {"value": text}}),
        "startsWith" if !form.trimmed && form.lower => {
            json!({"starts-with": {"value": text, "ignore_case": true}})
        }
        "startsWith" if !form.trimmed => json!({"starts-with": {"value": text}}),
        "endsWith" if !filled && plain => {
            let space = if form.trimmed { "\\s*" } else { "" };
            let pattern = format!("{}{space}\\z", regex::escape(&text));
            json!({"regex": {"pattern": pattern, "ignore_case": form.lower}})
        }
        _ => return None,
    };
    Some(Said::Judge(judge))
}

fn matches(pattern: &str, flags: &str, form: Form) -> Option<Said> {
    let known = flags.chars().all(|flag| matches!(flag, 'i' | 'm' | 's' | 'g' | 'u'));
    // A pattern with capitals never matches a text without any.
    if !known || form.trimmed || form.lower {
        return None;
    }
    let inner: String = flags.chars().filter(|flag| matches!(flag, 'm' | 's')).collect();
    let front = if inner.is_empty() { String::new() } else { format!("(?{inner})") };
    Some(Said::Judge(
        json!({"regex": {"pattern": format!("{front}{pattern}"), "ignore_case": flags.contains('i')}}),
    ))
}

#[cfg(test)]
mod tests {
    use proofhouse_ledger::Json;

    use super::*;
    use crate::family::judge::{JudgeConfig, Subject};

    /// What the judge of an expression says of answers: `+` before those that it takes, `-` before the others.
    #[track_caller]
    fn check(code: &str, answers: &[&str]) {
        let judge = judge(code).unwrap_or_else(|| panic!("{code} is not understood"));
        let config: JudgeConfig = serde_json::from_value(judge.clone()).unwrap();
        let compiled = config.compile().unwrap_or_else(|error| panic!("{judge}: {error}"));
        for answer in answers {
            let (sign, text) = answer.split_at(1);
            let output = Json::from(text);
            let verdict = compiled.judge(&Subject { output: &output, ..Subject::default() });
            assert_eq!(verdict.score, Some(f64::from(u8::from(sign == "+"))), "{code}: {text:?}: {judge}");
        }
    }

    #[test]
    fn what_people_write_is_understood() {
        check("output.length <= 3", &["+abc", "-abcd", "+"]);
        check("output.length < 3 // short", &["+ab", "-abc"]);
        check("output.length >= 2", &["+ab", "-a"]);
        check("output.length === 2", &["+ab", "-a", "-abc"]);
        check("output && output.trim().length > 2", &["+ abc ", "- ab   ", "-", "-    "]);
        check("output.trim().length > 0", &["+ a ", "-  \n"]);
        check("output.includes('x y')", &["+a x y b", "-xy"]);
        check("return output.toLowerCase().includes(\"paris\");", &["+PARIS", "-Rome"]);
        check(
            "!output.includes('a') && !output.toLowerCase().includes('i don\\'t know')",
            &["+b", "-a", "-I don't know"],
        );
        check(
            "// one of them\noutput.includes('100,000') ||\noutput.toLowerCase().includes('scale')\n",
            &["+100,000", "+Scale", "-x"],
        );
        check(
            "const v = output.toLowerCase();\n['file size', 'limit'].some(s => v.includes(s))\n",
            &["+Limit", "-x"],
        );
        check("['a', 'b'].every((s) => output.includes(s))", &["+ab", "-a"]);
        check(
            "typeof output === 'string' && (output.startsWith('a') || output.startsWith('b'))",
            &["+ax", "+bx", "-xa"],
        );
        check("output.split('\\n').length >= 3", &["+a\nb\nc", "-a\nb"]);
        check("output.split('\\n').length === 2", &["+a\nb", "-a", "-a\nb\nc"]);
        check("/^[A-J]$/i.test(output)", &["+b", "-k", "-ab"]);
        check("output.endsWith('.')", &["+a.", "-a.b"]);
        check("output === 'Yes'", &["+Yes", "-Yes ", "-yes"]);
        check("String(output).includes('x')", &["+x", "-y"]);
    }

    #[test]
    fn variables_of_the_test_are_holes() {
        assert_eq!(
            judge("output.includes(context.vars.city)"),
            Some(json!({"contains": {"value": "{{ city }}"}}))
        );
        assert_eq!(judge("output.toLowerCase().includes(context.vars.city)"), None);
        assert_eq!(judge("output.includes(context.vars.city.name)"), None);
    }

    #[test]
    fn what_is_not_understood_is_not_guessed_at() {
        for code in [
            "output.classification === context.vars.label",
            "JSON.parse(output).a === 1",
            "(context.providerResponse?.images?.length ?? 0) > 0",
            "const m = output.match(/a/); return m?.[1] === 'a'",
            "if (output) { return true }",
            "output.toLowerCase().includes('Paris')",
            "output.length > 1.5",
            "output.length > 1 ? 1 : 0",
            "output.includes('a') output",
            "`${output}`",
            "output.includes('a",
            "",
        ] {
            assert_eq!(judge(code), None, "{code}");
        }
    }
}
