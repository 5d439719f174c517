//! The `is-sql` judge.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlparser::ast::{Statement, Visit as _};
use sqlparser::dialect;
use sqlparser::parser::{Parser, ParserError};

use self::reading::SqlNames;
use super::text::excerpt;
use super::{Judge, Settings, Subject, Verdict};
use crate::text::complaint::Complaint;

mod reading;

/// The longest SQL that is read, in bytes.
const MAX_BYTES: usize = 50_000;

/// Room for the tree of the longest SQL: an operator chain nests once for every two bytes. It is only reserved, and used where it is needed.
const STACK_BYTES: usize = 256 << 20;

/// The answer is SQL, and of what is allowed.
///
/// The SQL is read by the grammar of its `dialect`. With `extract: auto` it is the last fenced block of the answer, or the whole answer where
/// there is none. `statements` allows kinds of statements; every statement counts, those within `WITH` and `EXPLAIN` too, and a `SELECT …
/// INTO` is a `create`. `tables` and `columns` allow names, whatever their case. A table is written as the SQL writes it: `staff` does not allow
/// `hr.staff`. Names that a `WITH` gives are no tables. A column is the last part of its name, `*` is every column and so not one of a list, and
/// an alias counts as a column wherever it is used, but for `ORDER BY` and `GROUP BY` of its own query.
///
/// Grammars are lenient: what does not parse is no SQL, and what parses may still be refused by a database.
///
/// Guarantee: nothing is run. With `tables` or `columns`, statements other than `select`, `insert`, `update` and `delete` are wrong. SQL of more than
/// 50,000 bytes, or nested deeper than the reader goes, is not judged.
///
/// ```yaml
/// is-sql: {dialect: postgres, statements: [select], tables: [staff, departments]}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IsSql {
    /// Whose SQL it is.
    pub dialect: SqlDialect,
    /// Where in the answer it stands.
    pub extract: SqlExtract,
    /// The kinds of statements that are allowed; without it all are.
    pub statements: Option<Vec<SqlKind>>,
    /// The tables that may be named; without it all may.
    pub tables: Option<Vec<String>>,
    /// The columns that may be named; without it all may.
    pub columns: Option<Vec<String>>,
}

/// Where in an answer its SQL stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqlExtract {
    /// The last fenced block, or the whole answer where there is none.
    #[default]
    Auto,
    /// The whole answer.
    Whole,
}

macro_rules! dialects {
    ($($(#[doc = $doc:literal])+ $name:ident => $spelt:literal,)+) => {
        /// Whose SQL it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum SqlDialect {
            /// What most of them understand.
            #[default]
            Generic,
            $($(#[doc = $doc])+ $name,)+
        }

        impl SqlDialect {
            fn grammar(self) -> Box<dyn dialect::Dialect> {
                let name = match self {
                    SqlDialect::Generic => "generic",
                    $(SqlDialect::$name => $spelt,)+
                };
                dialect::dialect_from_str(name).expect("every dialect of the table has a grammar")
            }

            #[cfg(test)]
            const ALL: &[SqlDialect] = &[SqlDialect::Generic, $(SqlDialect::$name),+];
        }
    };
}

dialects! {
    /// The standard.
    Ansi => "ansi",
    /// BigQuery.
    Bigquery => "bigquery",
    /// ClickHouse.
    Clickhouse => "clickhouse",
    /// Databricks.
    Databricks => "databricks",
    /// DuckDB.
    Duckdb => "duckdb",
    /// Hive.
    Hive => "hive",
    /// Microsoft SQL Server.
    Mssql => "mssql",
    /// MySQL and MariaDB.
    Mysql => "mysql",
    /// Oracle.
    Oracle => "oracle",
    /// PostgreSQL.
    Postgres => "postgres",
    /// Redshift.
    Redshift => "redshift",
    /// Snowflake.
    Snowflake => "snowflake",
    /// SQLite.
    Sqlite => "sqlite",
}

/// Kinds of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqlKind {
    /// Queries: `SELECT`, `VALUES`, `WITH … SELECT`.
    Select,
    /// `INSERT` and `REPLACE`.
    Insert,
    /// `UPDATE`.
    Update,
    /// `DELETE`.
    Delete,
    /// `MERGE`.
    Merge,
    /// `CREATE …`, and `SELECT … INTO`.
    Create,
    /// `ALTER …`.
    Alter,
    /// `DROP …` and `TRUNCATE`.
    Drop,
    /// `EXPLAIN` and `DESCRIBE`; what is explained counts beside it.
    Explain,
    /// Everything else.
    Other,
}

/// Kinds whose tables and columns are all found.
const NAMING: [SqlKind; 4] = [SqlKind::Select, SqlKind::Insert, SqlKind::Update, SqlKind::Delete];

impl SqlKind {
    /// What messages call it: as a suite spells it.
    fn name(self) -> String {
        format!("{self:?}").to_ascii_lowercase()
    }
}

impl Settings for IsSql {
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        if self.statements.as_ref().is_some_and(Vec::is_empty) {
            return Err(Complaint::new("no kind of statement is allowed")
                .hint("for example `statements: [select]`, or leave it out"));
        }
        let lists = [("tables", &self.tables), ("columns", &self.columns)];
        for (key, list) in lists {
            let names = list.as_deref().unwrap_or_default();
            if names.iter().any(|name| name.trim().is_empty()) {
                return Err(Complaint::new(format!("`{key}` has a name that is empty")));
            }
        }
        let mut statements = self.statements.clone();
        if self.tables.is_some() || self.columns.is_some() {
            let allowed = statements.unwrap_or_else(|| NAMING.to_vec());
            if let Some(kind) = allowed.iter().find(|kind| !NAMING.contains(kind)) {
                let what = format!("tables and columns of `{}` statements are not looked for", kind.name());
                return Err(Complaint::new(what)
                    .hint("leave it out of `statements`, or leave `tables` and `columns` out"));
            }
            statements = Some(allowed);
        }
        let folded = |list: &Option<Vec<String>>| {
            list.as_ref().map(|names| names.iter().map(|name| name.trim().to_lowercase()).collect())
        };
        let (tables, columns) = (folded(&self.tables), folded(&self.columns));
        Ok(Box::new(Compiled {
            dialect: self.dialect,
            extract: self.extract,
            allowed: Allowed { statements, tables, columns },
        }))
    }

    fn needs_expected(&self) -> bool {
        false
    }
}

struct Compiled {
    dialect: SqlDialect,
    extract: SqlExtract,
    allowed: Allowed,
}

/// What may stand in the SQL; none allows all.
struct Allowed {
    statements: Option<Vec<SqlKind>>,
    tables: Option<Vec<String>>,
    columns: Option<Vec<String>>,
}

impl Allowed {
    /// The first thing that may not be there.
    fn offence(&self, statements: &[Statement]) -> Option<String> {
        let mut reading = SqlNames::default();
        let _: std::ops::ControlFlow<()> =
            statements.iter().try_for_each(|statement| statement.visit(&mut reading));
        let outside = |list: &Option<Vec<String>>, found: &[String]| {
            let list = list.as_ref()?;
            found.iter().find(|name| !list.contains(name)).cloned()
        };
        if let Some(allowed) = &self.statements
            && let Some(kind) = reading.kinds.iter().find(|kind| !allowed.contains(kind))
        {
            let allowed: Vec<String> = allowed.iter().map(|kind| format!("`{}`", kind.name())).collect();
            return Some(format!(
                "a statement is `{}`, and only {} may be used",
                kind.name(),
                allowed.join(", ")
            ));
        }
        if let Some(table) = outside(&self.tables, &reading.tables) {
            return Some(format!("the table {} is not allowed", excerpt(&table)));
        }
        outside(&self.columns, &reading.columns)
            .map(|column| format!("the column {} is not allowed", excerpt(&column)))
    }

    fn judge(&self, dialect: SqlDialect, sql: &str) -> Verdict {
        match Parser::parse_sql(&*dialect.grammar(), sql) {
            Err(ParserError::RecursionLimitExceeded) => {
                Verdict::unjudged("the SQL nests too deeply to be read")
            }
            Err(ParserError::ParserError(why) | ParserError::TokenizerError(why)) => {
                Verdict::wrong(format!("this is not SQL: {} in {}", excerpt(&why), excerpt(sql)))
            }
            Ok(statements) if statements.is_empty() => Verdict::wrong("there is no statement"),
            Ok(statements) => match self.offence(&statements) {
                None => Verdict::right(),
                Some(offence) => Verdict::wrong(format!("{offence} in {}", excerpt(sql))),
            },
        }
    }
}

impl Judge for Compiled {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let answer = subject.text();
        let sql = match self.extract {
            SqlExtract::Whole => Cow::Borrowed(answer.trim()),
            SqlExtract::Auto => fenced(&answer).map_or_else(|| Cow::Borrowed(answer.trim()), Cow::Borrowed),
        };
        if sql.len() > MAX_BYTES {
            return Verdict::unjudged(format!("the SQL is longer than {MAX_BYTES} bytes"));
        }
        // The reader bounds how deep parentheses nest, but a chain of operators becomes a tree as deep as it is long, which is walked and
        // dropped by recursion: it must not meet the end of whatever stack this is called on.
        std::thread::scope(|scope| {
            let reader = std::thread::Builder::new().stack_size(STACK_BYTES);
            let read = reader.spawn_scoped(scope, || self.allowed.judge(self.dialect, &sql));
            match read.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(verdict)) => verdict,
                Ok(Err(_)) => Verdict::unjudged("the SQL broke its reader"),
                Err(error) => Verdict::unjudged(format!("no thread could be started: {error}")),
            }
        })
    }
}

/// The last block between two lines of three backticks, if there is one.
fn fenced(answer: &str) -> Option<&str> {
    let (mut found, mut open, mut at) = (None, None, 0);
    for line in answer.split_inclusive('\n') {
        let next = at + line.len();
        if line.trim_start().starts_with("```") {
            open = match open {
                None => Some(next),
                Some(start) => {
                    found = Some(answer[start..at].trim());
                    None
                }
            };
        }
        at = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, reason, refused, unjudged};
    use super::*;

    const PLAIN: &str = "is-sql: {}";

    #[test]
    fn sql_or_not() {
        for right in [
            "SELECT a, count(*) FROM t WHERE b = 'it''s' GROUP BY a ORDER BY 2 DESC LIMIT 3",
            "with q as (select 1 as a) select a from q;",
            "INSERT INTO t (a) VALUES (1); -- done\nUPDATE t SET a = 2 WHERE a = 1;",
            "create table t (id int primary key, name varchar(20) not null)",
            "Here it is:\n```sql\nSELECT 1\n```\nIt counts.",
        ] {
            check(PLAIN, "null", right, 1.0);
        }
        for (wrong, why) in [
            ("", "no statement"),
            ("-- nothing", "no statement"),
            ("selct * from t", "found: selct"),
            ("SELECT a b c FROM t", "found: c"),
            ("SELECT a FROM t WHERE", "found: EOF"),
            ("SELECT 'a", "Unterminated string"),
            ("SELECT (1", "found: EOF"),
            ("The query is SELECT 1", "found: The"),
        ] {
            check(PLAIN, "null", wrong, 0.0);
            assert!(reason(PLAIN, "null", wrong).contains(why), "{wrong}: {}", reason(PLAIN, "null", wrong));
        }
        check("is-sql: {extract: whole}", "null", "```sql\nSELECT 1\n```", 0.0);
    }

    #[test]
    fn every_dialect_has_its_grammar() {
        for dialect in SqlDialect::ALL {
            let judge = IsSql { dialect: *dialect, ..IsSql::default() }.compile().unwrap();
            let output = proofhouse_ledger::Json::from("SELECT a FROM t");
            assert_eq!(
                judge.judge(&Subject { output: &output, ..Subject::default() }).score,
                Some(1.0),
                "{dialect:?}"
            );
        }
        check("is-sql: {dialect: mssql}", "null", "SELECT TOP 3 [a] FROM [t]", 1.0);
        check("is-sql: {dialect: sqlite}", "null", "SELECT a FROM t WHERE b REGEXP", 0.0);
    }

    #[test]
    fn kinds_of_statements_are_allowed() {
        let only = "is-sql: {statements: [select]}";
        check(only, "null", "SELECT 1; SELECT 2", 1.0);
        for (sql, kind) in [
            ("SELECT 1; DROP TABLE t", "drop"),
            ("WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", "delete"),
            ("SELECT * INTO copy FROM t", "create"),
            ("EXPLAIN SELECT 1", "explain"),
            ("TRUNCATE TABLE t", "drop"),
            ("GRANT SELECT ON t TO u", "other"),
            ("CREATE VIEW v AS SELECT 1", "create"),
            ("ALTER TABLE t ADD COLUMN a INT", "alter"),
            ("MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE", "merge"),
            ("INSERT INTO t SELECT 1", "insert"),
            ("UPDATE t SET a = 1", "update"),
        ] {
            check(only, "null", sql, 0.0);
            assert!(reason(only, "null", sql).contains(&format!("a statement is `{kind}`")), "{sql}");
        }
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        refused("is-sql: {statements: []}", "no kind of statement");
        refused("is-sql: {tables: [' ']}", "a name that is empty");
        refused(
            "is-sql: {tables: [t], statements: [select, create]}",
            "`create` statements are not looked for",
        );
    }

    #[test]
    fn hostile_sql_neither_overflows_nor_hangs() {
        for unit in [
            "(",
            "select (",
            "case when ",
            "not ",
            "a(",
            "+1",
            " or a",
            ";select 1",
            " union select 1",
            "[",
            "x in (",
        ] {
            for front in ["", "select 1"] {
                let sql = format!("{front}{}", unit.repeat(MAX_BYTES / unit.len() - 8));
                let judge = IsSql { columns: Some(vec!["b".into()]), ..IsSql::default() }.compile().unwrap();
                let output = proofhouse_ledger::Json::from(sql.as_str());
                let verdict = judge.judge(&Subject { output: &output, ..Subject::default() });
                assert_ne!(verdict.score.is_none(), verdict.error.is_none(), "{unit}: {verdict:?}");
            }
        }
        unjudged(PLAIN, "null", &format!("select {}1", "(".repeat(200)), "nests too deeply");
        unjudged(PLAIN, "null", &"select 1; ".repeat(MAX_BYTES), "longer than");
    }
}
