//! The places of a file that can hold several variants at once, found where cargo-mutants says that it changes something.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::{LineColumn, Span};
use serde::Deserialize;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// A row of `cargo mutants --list --json`.
#[derive(Deserialize)]
pub struct Mutant {
    pub name: String,
    pub file: String,
    pub genre: String,
    pub replacement: String,
    pub span: Extent,
}

#[derive(Deserialize)]
pub struct Extent {
    start: Point,
}

#[derive(Deserialize)]
struct Point {
    line: usize,
    column: usize,
}

/// Where the variants stand.
#[derive(Clone, Copy, PartialEq)]
pub enum Shape {
    /// Instead of an expression: `(match at(n) { 0 => (as it was), 1 => (variant), … })`.
    Expression,
    /// At the start of a function: a variant is what it returns at once.
    Entry,
    /// An arm of a `match` that has no guard gets one; the variant is that it never applies.
    Arm,
    /// The same before the guard that there is.
    GuardedArm,
}

pub struct Place {
    pub shape: Shape,
    pub bytes: Range<usize>,
    /// The mutant's number in the list, and its text.
    pub variants: Vec<(usize, String)>,
}

/// Those of a file. Mutants in none of them stand in constants or where the compiler allows no choice.
pub fn places(source: &str, mutants: &[Mutant], file: &str) -> Vec<Place> {
    let mut by_start: BTreeMap<(String, usize, usize), Vec<usize>> = BTreeMap::new();
    for (number, mutant) in mutants.iter().enumerate().filter(|(_, mutant)| mutant.file == file) {
        let start = &mutant.span.start;
        by_start.entry((mutant.genre.clone(), start.line, start.column)).or_default().push(number);
    }
    let tree = syn::parse_file(source).expect("what compiles is parsed");
    let mut finder = Finder { source, mutants, by_start, places: Vec::new() };
    finder.visit_file(&tree);
    finder.places
}

struct Finder<'a> {
    source: &'a str,
    mutants: &'a [Mutant],
    by_start: BTreeMap<(String, usize, usize), Vec<usize>>,
    places: Vec<Place>,
}

impl Finder<'_> {
    fn text(&self, span: Span) -> &str {
        &self.source[span.byte_range()]
    }

    fn take(&mut self, genre: &str, start: LineColumn) -> Vec<usize> {
        self.by_start.remove(&(genre.to_owned(), start.line, start.column + 1)).unwrap_or_default()
    }

    fn add(&mut self, shape: Shape, bytes: Range<usize>, variants: Vec<(usize, String)>) {
        if !variants.is_empty() {
            self.places.push(Place { shape, bytes, variants });
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let Some(first) = block.stmts.first().filter(|_| signature.constness.is_none()) else { return };
        // `impl Trait` stands for one type: the variants have another.
        let one_type = matches!(&signature.output, syn::ReturnType::Type(_, of) if matches!(**of, syn::Type::ImplTrait(_)));
        let found = if one_type { Vec::new() } else { self.take("FnValue", first.span().start()) };
        let start = block.brace_token.span.open().byte_range().end;
        let variants = found.into_iter().map(|n| (n, self.mutants[n].replacement.clone())).collect();
        self.add(Shape::Entry, start..start, variants);
        visit::visit_block(self, block);
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_variant(&mut self, _: &'ast syn::Variant) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_expr_repeat(&mut self, expr: &'ast syn::ExprRepeat) {
        self.visit_expr(&expr.expr);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_expr_binary(&mut self, expr: &'ast syn::ExprBinary) {
        if !has_let(&expr.left) && !has_let(&expr.right) {
            let found = self.take("BinaryOperator", expr.op.span().start());
            let (left, right) = (self.text(expr.left.span()), self.text(expr.right.span()));
            let variant = |n: usize| (n, format!("({left}) {} ({right})", self.mutants[n].replacement));
            let variants = found.into_iter().map(variant).collect();
            self.add(Shape::Expression, expr.span().byte_range(), variants);
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_unary(&mut self, expr: &'ast syn::ExprUnary) {
        let found = self.take("UnaryOperator", expr.op.span().start());
        let variants = found.into_iter().map(|n| (n, self.text(expr.expr.span()).to_owned())).collect();
        self.add(Shape::Expression, expr.span().byte_range(), variants);
        visit::visit_expr_unary(self, expr);
    }

    fn visit_expr_match(&mut self, expr: &'ast syn::ExprMatch) {
        // An arm with a guard covers nothing: where no other covers all, one cannot do without this one.
        if !expr.arms.iter().any(|arm| covers_all(&arm.pat)) {
            for arm in expr.arms.iter().filter(|arm| !matches!(arm.pat, syn::Pat::Guard(_))) {
                self.take("MatchArm", arm.span().start());
            }
        }
        visit::visit_expr_match(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let found = self.take("MatchArm", arm.span().start());
        let absent = found.into_iter().map(|n| (n, String::new())).collect();
        match &arm.pat {
            syn::Pat::Guard(guarded) if !has_let(&guarded.guard) => {
                let guard = guarded.guard.span();
                self.add(Shape::GuardedArm, guard.byte_range(), absent);
                let found = self.take("MatchArmGuard", guard.start());
                let variants = found.into_iter().map(|n| (n, self.mutants[n].replacement.clone())).collect();
                self.add(Shape::Expression, guard.byte_range(), variants);
                self.visit_expr(&guarded.guard);
            }
            syn::Pat::Guard(guarded) => self.visit_expr(&guarded.guard),
            pattern => {
                let end = pattern.span().byte_range().end;
                self.add(Shape::Arm, end..end, absent);
            }
        }
        self.visit_expr(&arm.body);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        let whole = expr.span().byte_range();
        let mut variants = Vec::new();
        for (index, field) in expr.fields.iter().enumerate() {
            let next = expr
                .fields
                .get(index + 1)
                .map(|next| next.span())
                .or(expr.dot2_token.map(|dots| dots.span()));
            let found = self.take("StructField", field.span().start());
            let Some(next) = next else { continue };
            let before = &self.source[whole.start..field.span().byte_range().start];
            let after = &self.source[next.byte_range().start..whole.end];
            variants.extend(found.into_iter().map(|n| (n, format!("{before}{after}"))));
        }
        self.add(Shape::Expression, whole, variants);
        visit::visit_expr_struct(self, expr);
    }
}

/// `if let … && …` is one condition: its parts cannot be put in parentheses.
fn has_let(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn covers_all(pattern: &syn::Pat) -> bool {
    match pattern {
        syn::Pat::Wild(_) => true,
        syn::Pat::Ident(bound) => {
            bound.subpat.is_none() && bound.ident.to_string().starts_with(|first: char| first.is_lowercase())
        }
        _ => false,
    }
}
