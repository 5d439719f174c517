//! Numbers as people read them.

/// `1 task`, `2 tasks`
pub(crate) fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
