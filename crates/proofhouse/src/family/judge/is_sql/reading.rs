//! What SQL names: kinds of statements, tables and columns, each found by a walk over its tree.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Assignment, AssignmentTarget, ConflictTarget, Expr, FromTable, GroupByExpr, Ident, Join, JoinConstraint,
    JoinOperator, ObjectName, OnConflictAction, OnInsert, OrderByKind, Query, Select, SelectItem, SetExpr,
    Statement, TableFactor, TableWithJoins, UpdateTableFromKind, Visitor,
};

use super::SqlKind;

/// Every name in the SQL, in lower case and in order.
#[derive(Debug, Default)]
pub(super) struct SqlNames {
    pub(super) kinds: Vec<SqlKind>,
    pub(super) tables: Vec<String>,
    pub(super) columns: Vec<String>,
    /// The queries around this place that have a `WITH`.
    scopes: Vec<Scope>,
    /// Aliases where they stand for what their own query made: by address, because equal names elsewhere are columns.
    aliases: Vec<*const Expr>,
}

/// The names that one `WITH` gives.
#[derive(Debug)]
struct Scope {
    query: *const Query,
    /// Each name, and the query that it stands for.
    names: Vec<(String, *const Query)>,
    /// How many of them can be seen here: a query of the list sees those before it, and with `RECURSIVE` all.
    seen: usize,
    recursive: bool,
}

fn folded(ident: &Ident) -> String {
    ident.value.to_lowercase()
}

/// A name as the SQL writes it, without its quotes.
fn dotted(name: &ObjectName) -> String {
    let parts =
        name.0.iter().map(|part| part.as_ident().map_or_else(|| part.to_string().to_lowercase(), folded));
    parts.collect::<Vec<_>>().join(".")
}

impl SqlNames {
    fn column(&mut self, name: &ObjectName) {
        self.columns
            .extend(name.0.last().map(|part| part.as_ident().map_or_else(|| part.to_string(), folded)));
    }

    fn assigned(&mut self, assignments: &[Assignment]) {
        for assignment in assignments {
            match &assignment.target {
                AssignmentTarget::ColumnName(name) => self.column(name),
                AssignmentTarget::Tuple(names) => names.iter().for_each(|name| self.column(name)),
            }
        }
    }

    /// Every column that is taken at once.
    fn wildcards(&mut self, items: &[SelectItem]) {
        let all = items
            .iter()
            .any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
        self.columns.extend(all.then(|| "*".to_owned()));
    }

    /// The columns of `USING`, which are no expressions. A `NATURAL` join names none, and may take any.
    fn joined(&mut self, tables: &[TableWithJoins]) {
        for Join { join_operator, .. } in tables.iter().flat_map(|table| &table.joins) {
            match constraint(join_operator) {
                Some(JoinConstraint::Using(names)) => names.iter().for_each(|name| self.column(name)),
                Some(JoinConstraint::Natural) => self.columns.push("*".to_owned()),
                _ => {}
            }
        }
    }

    fn statement(&mut self, statement: &Statement) -> SqlKind {
        match statement {
            Statement::Query(_) => SqlKind::Select,
            Statement::Insert(insert) => {
                insert.columns.iter().for_each(|name| self.column(name));
                self.columns.extend(insert.after_columns.iter().map(folded));
                self.assigned(&insert.assignments);
                // Without a list of columns all are written.
                if insert.columns.is_empty() && insert.assignments.is_empty() {
                    self.columns.push("*".to_owned());
                }
                self.on_conflict(insert.on.as_ref());
                self.wildcards(insert.returning.as_deref().unwrap_or_default());
                SqlKind::Insert
            }
            Statement::Update(update) => {
                self.assigned(&update.assignments);
                self.joined(std::slice::from_ref(&update.table));
                if let Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) =
                    &update.from
                {
                    self.joined(from);
                }
                self.wildcards(update.returning.as_deref().unwrap_or_default());
                SqlKind::Update
            }
            Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
                self.joined(from);
                self.joined(delete.using.as_deref().unwrap_or_default());
                self.wildcards(delete.returning.as_deref().unwrap_or_default());
                SqlKind::Delete
            }
            other => by_word(other),
        }
    }

    fn on_conflict(&mut self, on: Option<&OnInsert>) {
        match on {
            Some(OnInsert::DuplicateKeyUpdate(assignments)) => self.assigned(assignments),
            Some(OnInsert::OnConflict(conflict)) => {
                if let Some(ConflictTarget::Columns(columns)) = &conflict.conflict_target {
                    self.columns.extend(columns.iter().map(folded));
                }
                if let OnConflictAction::DoUpdate(update) = &conflict.action {
                    self.assigned(&update.assignments);
                }
            }
            _ => {}
        }
    }

    /// Remembers expressions that are nothing but an alias of the query that they stand in.
    fn aliases<'e>(&mut self, select: &Select, used: impl Iterator<Item = &'e Expr>) {
        let named = |name: &Ident| {
            let is_name = |alias: &Ident| alias.value.eq_ignore_ascii_case(&name.value);
            select.projection.iter().any(|item| match item {
                SelectItem::ExprWithAlias { alias, .. } => is_name(alias),
                SelectItem::ExprWithAliases { aliases, .. } => aliases.iter().any(is_name),
                _ => false,
            })
        };
        let own = used.filter(|expr| matches!(expr, Expr::Identifier(name) if named(name)));
        self.aliases.extend(own.map(std::ptr::from_ref));
    }

    fn is_given(&self, table: &str) -> bool {
        let seen = |scope: &Scope| scope.names[..scope.seen].iter().any(|(name, _)| name == table);
        self.scopes.iter().any(seen)
    }
}

fn constraint(join: &JoinOperator) -> Option<&JoinConstraint> {
    use JoinOperator as J;
    match join {
        J::Join(on) | J::Inner(on) | J::Left(on) | J::LeftOuter(on) | J::Right(on) | J::RightOuter(on) => {
            Some(on)
        }
        J::FullOuter(on) | J::CrossJoin(on) | J::Semi(on) | J::LeftSemi(on) | J::RightSemi(on) => Some(on),
        J::Anti(on) | J::LeftAnti(on) | J::RightAnti(on) | J::StraightJoin(on) => Some(on),
        J::AsOf { constraint, .. } => Some(constraint),
        _ => None,
    }
}

/// The kind of a statement by its first word: the reader has some hundred sorts of them.
fn by_word(statement: &Statement) -> SqlKind {
    let text = statement.to_string();
    match text.split_whitespace().next().unwrap_or_default().to_ascii_uppercase().as_str() {
        "MERGE" => SqlKind::Merge,
        "CREATE" => SqlKind::Create,
        "ALTER" => SqlKind::Alter,
        "DROP" | "TRUNCATE" => SqlKind::Drop,
        "EXPLAIN" | "DESCRIBE" | "DESC" => SqlKind::Explain,
        _ => SqlKind::Other,
    }
}

impl Visitor for SqlNames {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        let kind = self.statement(statement);
        self.kinds.push(kind);
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let this = std::ptr::from_ref(query);
        if let Some(scope) = self.scopes.last_mut()
            && let Some(place) = scope.names.iter().position(|(_, body)| *body == this)
        {
            scope.seen = if scope.recursive { scope.names.len() } else { place };
        }
        if let Some(with) = &query.with {
            let named =
                with.cte_tables.iter().map(|cte| (folded(&cte.alias.name), std::ptr::from_ref(&*cte.query)));
            self.scopes.push(Scope {
                query: this,
                names: named.collect(),
                seen: 0,
                recursive: with.recursive,
            });
        }
        if let (SetExpr::Select(select), Some(order)) = (&*query.body, &query.order_by)
            && let OrderByKind::Expressions(list) = &order.kind
        {
            self.aliases(select, list.iter().map(|item| &item.expr));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let this = std::ptr::from_ref(query);
        if self.scopes.last().is_some_and(|scope| scope.query == this) {
            self.scopes.pop();
        }
        if let Some(scope) = self.scopes.last_mut()
            && let Some(place) = scope.names.iter().position(|(_, body)| *body == this)
        {
            scope.seen = place + 1;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.kinds.extend(select.into.is_some().then_some(SqlKind::Create));
        self.wildcards(&select.projection);
        self.joined(&select.from);
        if let GroupByExpr::Expressions(list, _) = &select.group_by {
            self.aliases(select, list.iter());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
            self.joined(std::slice::from_ref(table_with_joins));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let name = dotted(relation);
        if !self.is_given(&name) {
            self.tables.push(name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(_) if self.aliases.contains(&std::ptr::from_ref(expr)) => {}
            Expr::Identifier(name) => self.columns.push(folded(name)),
            Expr::CompoundIdentifier(parts) => self.columns.extend(parts.last().map(folded)),
            Expr::QualifiedWildcard(..) | Expr::Wildcard(_) => self.columns.push("*".to_owned()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{check, reason};

    #[test]
    fn tables_are_found_wherever_they_stand() {
        let judge = "is-sql: {tables: [staff, hr.pay]}";
        for right in [
            "SELECT a FROM staff",
            "select a from \"Staff\" join HR.pay on true",
            "WITH q AS (SELECT * FROM staff) SELECT * FROM q JOIN q AS r ON true",
            "WITH RECURSIVE q AS (SELECT 1 UNION SELECT 2 FROM q) SELECT * FROM q",
            "WITH p AS (SELECT 1), q AS (SELECT * FROM p) SELECT (SELECT count(*) FROM q)",
            "DELETE FROM staff WHERE id IN (SELECT id FROM hr.pay)",
        ] {
            check(judge, "null", right, 1.0);
        }
        for (sql, table) in [
            ("SELECT a FROM pay", "pay"),
            ("SELECT a FROM other.staff", "other.staff"),
            ("SELECT a FROM staff WHERE b IN (SELECT c FROM x)", "x"),
            ("SELECT a FROM staff UNION SELECT a FROM y", "y"),
            ("INSERT INTO z (a) SELECT a FROM staff", "z"),
            ("UPDATE staff SET a = (SELECT max(b) FROM w)", "w"),
            // Names that a `WITH` gives hold where it does, and nowhere else.
            ("WITH q AS (SELECT 1) SELECT * FROM q; SELECT * FROM q", "q"),
            ("WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a", "b"),
            ("SELECT * FROM (WITH q AS (SELECT 1) SELECT * FROM q) AS d, q", "q"),
        ] {
            assert!(reason(judge, "null", sql).contains(&format!("the table `{table}`")), "{sql}");
        }
        assert!(reason(judge, "null", "DROP TABLE secret").contains("a statement is `drop`"));
    }

    #[test]
    fn columns_are_found_wherever_they_stand() {
        let judge = "is-sql: {columns: [id, name]}";
        for right in [
            "SELECT ID, s.\"Name\", count(*) FROM staff AS s GROUP BY id, name",
            "SELECT id AS nr, count(*) AS many FROM staff GROUP BY nr ORDER BY many",
            "INSERT INTO t (id) VALUES (1)",
            "UPDATE t SET name = 'x' WHERE id = 1",
        ] {
            check(judge, "null", right, 1.0);
        }
        for (sql, column) in [
            ("SELECT * FROM t", "*"),
            ("SELECT t.* FROM t", "*"),
            ("SELECT id FROM t NATURAL JOIN u", "*"),
            ("SELECT id FROM t WHERE pay > 3", "pay"),
            ("SELECT id FROM t JOIN u USING (pay)", "pay"),
            ("SELECT id FROM (t JOIN u USING (pay))", "pay"),
            ("SELECT id FROM t ORDER BY t.pay", "pay"),
            ("SELECT pay AS id FROM t", "pay"),
            ("SELECT pay AS pay FROM t ORDER BY pay", "pay"),
            ("SELECT id AS pay FROM t WHERE pay > 1 ORDER BY pay", "pay"),
            ("SELECT id AS pay, (SELECT max(pay) FROM u) FROM t ORDER BY pay", "pay"),
            ("INSERT INTO t VALUES (1)", "*"),
            ("INSERT INTO t (id, pay) VALUES (1, 2)", "pay"),
            ("INSERT INTO t (id) VALUES (1) ON CONFLICT (pay) DO NOTHING", "pay"),
            ("INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET pay = 1", "pay"),
            ("INSERT INTO t (id) VALUES (1) RETURNING *", "*"),
            ("UPDATE t SET pay = 1", "pay"),
            ("UPDATE t SET (id, pay) = (1, 2)", "pay"),
            ("DELETE FROM t WHERE pay = 1", "pay"),
            ("DELETE FROM t USING u JOIN v USING (pay) WHERE true", "pay"),
        ] {
            assert!(
                reason(judge, "null", sql).contains(&format!("the column `{column}`")),
                "{sql}: {}",
                reason(judge, "null", sql)
            );
        }
    }
}
