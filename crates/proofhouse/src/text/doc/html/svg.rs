//! Small charts as inline SVG. Horizontal places are percentages of the chart's width, so that a chart fits a phone, a
//! screen and a sheet of paper without its strokes and dots being stretched.

use maud::{Markup, html};

use super::super::figure::{Figure, Portion, Scale};
use super::{Shown, address};
use crate::text::numbers;

fn place(share: f64) -> String {
    format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)
}

/// What stands above a column of figures.
pub(super) fn scale(scale: Scale) -> Markup {
    let ticks: &[(f64, &str)] = match scale {
        Scale::Share => &[(0.0, "0%"), (0.25, "25%"), (0.5, "50%"), (0.75, "75%"), (1.0, "100%")],
        Scale::Difference => &[(0.0, "−100"), (0.5, "0"), (1.0, "+100")],
        Scale::Title => &[],
    };
    let anchor = |share: f64| match share {
        0.0 => "start",
        1.0 => "end",
        _ => "middle",
    };
    html! {
        svg.axis height="16" aria-hidden="true" {
            @for (share, title) in ticks {
                text x=(place(*share)) y="12" text-anchor=(anchor(*share)) { (title) }
            }
        }
    }
}

/// A figure; one that stands alone is told in words, too.
pub(super) fn figure(figure: &Figure, spoken: Option<&str>) -> Markup {
    match figure {
        Figure::Interval { estimate, clustered, line } => interval(*estimate, *clustered, *line),
        Figure::Difference { interval, value } => difference(*interval, *value),
        Figure::Stacked(parts) => stacked(parts),
        Figure::Bar(share) => html! {
            svg.stacked height="16" aria-hidden="true" {
                rect.part.error x="0%" width=(place(*share)) y="2" height="12" {}
            }
        },
        Figure::Curve(points) => curve(points, spoken.unwrap_or_default()),
    }
}

fn stroke(class: &str, from: &str, to: &str, y: (&str, &str)) -> Markup {
    html! { line class=(class) x1=(from) x2=(to) y1=(y.0) y2=(y.1) {} }
}

fn whiskers(low: f64, high: f64) -> Markup {
    let (low, high) = (place(low), place(high));
    html! {
        (stroke("range", &low, &high, ("13", "13")))
        @for end in [&low, &high] { (stroke("range", end, end, ("8", "18"))) }
    }
}

fn grid() -> Markup {
    html! { @for share in [0.0, 0.25, 0.5, 0.75, 1.0] { (stroke("grid", &place(share), &place(share), ("0", "26"))) } }
}

/// A share with its interval; the wider interval over cases below it, and a dashed line across it where there is one.
fn interval(estimate: Option<[f64; 3]>, clustered: Option<[f64; 2]>, line: Option<f64>) -> Markup {
    let Some([low, value, high]) = estimate else {
        return html! {
            svg.interval height="26" role="img" aria-label="not assessed" {
                (grid())
                (stroke("empty", "0%", "100%", ("13", "13")))
            }
        };
    };
    let range = numbers::interval(Some(low), Some(high)).unwrap_or_default();
    let spoken = format!("{}, 95 % interval {range}", numbers::percent(value));
    html! {
        svg.interval height="26" role="img" aria-label=(spoken) {
            (grid())
            @if let Some(line) = line { (stroke("gate", &place(line), &place(line), ("0", "26"))) }
            @if let Some([low, high]) = clustered { (stroke("clustered", &place(low), &place(high), ("21", "21"))) }
            (whiskers(low, high))
            circle.point cx=(place(value)) cy="13" r="5" {}
        }
    }
}

/// A difference of two shares, −100 to +100 points around a line at 0.
fn difference(interval: Option<[f64; 2]>, value: Option<f64>) -> Markup {
    let middle = |difference: f64| (difference + 1.0) / 2.0;
    html! {
        svg.interval height="26" aria-hidden="true" {
            (stroke("grid", "0%", "100%", ("13", "13")))
            (stroke("gate", "50%", "50%", ("0", "26")))
            @if let Some([low, high]) = interval { (whiskers(middle(low), middle(high))) }
            @if let Some(value) = value { circle.point cx=(place(middle(value))) cy="13" r="5" {} }
        }
    }
}

/// Parts of a whole, side by side; each leads to the records behind it.
fn stacked(parts: &[Portion]) -> Markup {
    let parts: Vec<&Portion> = parts.iter().filter(|part| part.count > 0).collect();
    let total: u64 = parts.iter().map(|part| part.count).sum();
    let from = |at: usize| parts[..at].iter().map(|part| part.count).sum::<u64>() as f64 / total as f64;
    html! {
        svg.stacked height="22" {
            @for (at, part) in parts.iter().enumerate() {
                a href=(Shown(&address(&part.records))) aria-label=(format!("{} {}", part.title, part.count)) {
                    rect class={ "part " (part.class) } x=(place(from(at))) width=(place(part.count as f64 / total as f64)) y="1" height="20" {
                        title { (part.title) " " (part.count) }
                    }
                }
            }
        }
    }
}

/// Shares over an ordered scale, each with its interval: a title under each place, a line through the values.
fn curve(points: &[(String, [f64; 3])], spoken: &str) -> Markup {
    const HEIGHT: f64 = 150.0;
    let x = |at: usize| place((at as f64 + 0.5) / points.len() as f64);
    let y = |share: f64| format!("{:.1}", 8.0 + (1.0 - share.clamp(0.0, 1.0)) * HEIGHT);
    html! {
        svg.curve height="182" role="img" aria-label=(Shown(spoken)) {
            @for (share, title) in [(0.0, "0%"), (0.5, "50%"), (1.0, "100%")] {
                (stroke("grid", "0%", "100%", (&y(share), &y(share))))
                text x="0%" y=(y(share)) dy="-2" { (title) }
            }
            @for (at, pair) in points.windows(2).enumerate() {
                (stroke("trend", &x(at), &x(at + 1), (&y(pair[0].1[1]), &y(pair[1].1[1]))))
            }
            @for (at, (title, [low, value, high])) in points.iter().enumerate() {
                (stroke("range", &x(at), &x(at), (&y(*low), &y(*high))))
                circle.point cx=(x(at)) cy=(y(*value)) r="5" {}
                text x=(x(at)) y="176" text-anchor="middle" { (Shown(title)) }
            }
        }
    }
}
