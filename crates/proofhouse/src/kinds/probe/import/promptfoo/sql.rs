//! Asserts about SQL, with promptfoo's way of writing what it may hold.

use serde_json::{Value, json};

use crate::kinds::probe::import::text_of;
use crate::text::complaint::Complaint;

/// What SQL may hold. promptfoo writes names as `select::null::table`, by kind of statement and schema.
pub(super) fn judge(value: &Value, extract: &str) -> Result<Value, Complaint> {
    let mut judge = json!({"extract": extract});
    if let Some(name) = value["databaseType"].as_str() {
        let dialect = match name.to_ascii_lowercase().as_str() {
            "mariadb" | "mysql" => "mysql",
            "postgresql" => "postgres",
            "transactsql" => "mssql",
            "sqlite" => "sqlite",
            "bigquery" => "bigquery",
            "snowflake" => "snowflake",
            "hive" => "hive",
            "redshift" => "redshift",
            _ => return Err(Complaint::new(format!("no grammar here is that of `{name}`"))),
        };
        judge["dialect"] = Value::from(dialect);
    }
    let mut kinds: Option<Vec<String>> = None;
    for (theirs, ours) in [("allowedTables", "tables"), ("allowedColumns", "columns")] {
        let Value::Array(list) = &value[theirs] else { continue };
        let mut names = Vec::new();
        for entry in list {
            let (of, name) = allowed(&text_of(entry), ours)?;
            names.push(name);
            if kinds.get_or_insert_with(|| of.clone()) != &of {
                return Err(Complaint::new(
                    "names are allowed for all kinds of statements together, not for each",
                ));
            }
        }
        judge[ours] = Value::from(names);
    }
    if let Some(kinds) = kinds {
        judge["statements"] = Value::from(kinds);
    }
    Ok(json!({"is-sql": judge}))
}

/// Kinds of statements and the name of `(select|update)::schema::name`.
fn allowed(entry: &str, what: &str) -> Result<(Vec<String>, String), Complaint> {
    let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | ' '));
    let parts: Vec<&str> = entry.split("::").collect();
    let [kinds, within, name] = parts[..] else {
        return Err(Complaint::new(format!("`{entry}` is not a name of the form `select::null::name`")));
    };
    let kinds = kinds.trim_start_matches('(').trim_end_matches(')').split('|').map(str::to_owned).collect();
    // Columns are allowed by their own names, wherever they are.
    let schema = Some(within).filter(|within| what == "tables" && *within != "null");
    if !plain(name) || schema.is_some_and(|schema| !plain(schema)) {
        return Err(Complaint::new(format!("`{entry}` is a pattern, and names are written out here")));
    }
    Ok((kinds, schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sql_may_hold_is_kept_or_said() {
        let value = json!({
            "databaseType": "MariaDB",
            "allowedTables": ["(select|update)::null::staff", "(select|update)::hr::pay"],
            "allowedColumns": ["(select|update)::staff::name"],
        });
        let ours = json!({"is-sql": {
            "extract": "auto", "dialect": "mysql", "statements": ["select", "update"],
            "tables": ["staff", "hr.pay"], "columns": ["name"],
        }});
        assert_eq!(judge(&value, "auto").unwrap(), ours);
        assert_eq!(judge(&Value::Null, "whole").unwrap(), json!({"is-sql": {"extract": "whole"}}));
        for (value, why) in [
            (json!({"databaseType": "Noql"}), "no grammar here"),
            (json!({"allowedTables": ["staff"]}), "not a name of the form"),
            (json!({"allowedTables": ["select::(.*)::staff"]}), "is a pattern"),
            (json!({"allowedColumns": ["select::staff::(.*)"]}), "is a pattern"),
            (json!({"allowedTables": ["select::null::a", "insert::null::b"]}), "not for each"),
        ] {
            assert!(judge(&value, "auto").unwrap_err().what.contains(why), "{value}");
        }
    }
}
