//! Small charts as inline SVG. Horizontal places are percentages of the chart's width, so that a chart fits a phone, a
//! screen and a sheet of paper without its strokes and dots being stretched.

use proofhouse_ledger::summary::{Mean, Rate};

use super::html::Html;
use super::words;

fn place(share: f64) -> String {
    format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)
}

/// The scale above a column of shares.
pub(crate) fn share_scale(html: &mut Html) {
    let ticks = [(0.0, "0%"), (0.25, "25%"), (0.5, "50%"), (0.75, "75%"), (1.0, "100%")];
    scale(html, &ticks);
}

/// The scale above a column of differences, in points.
pub(crate) fn difference_scale(html: &mut Html) {
    scale(html, &[(0.0, "−100"), (0.5, "0"), (1.0, "+100")]);
}

fn scale(html: &mut Html, ticks: &[(f64, &'static str)]) {
    html.put(r#"<svg class="axis" height="16" aria-hidden="true">"#, &[]);
    for (share, title) in ticks {
        let anchor = match *share {
            0.0 => "start",
            1.0 => "end",
            _ => "middle",
        };
        html.put(r#"<text x="{}" y="12" text-anchor="{}">{}</text>"#, &[&place(*share), &anchor, title]);
    }
    html.put("</svg>", &[]);
}

/// A share with its interval; the wider interval over cases below it, and the gate across it where there is one.
pub(crate) fn interval(html: &mut Html, rate: &Rate, clustered: Option<&Mean>, gate: Option<f64>) {
    let (Some(value), Some(low), Some(high)) = (rate.value, rate.low, rate.high) else {
        html.put(r#"<svg class="interval" height="26" role="img" aria-label="not assessed">"#, &[]);
        grid(html);
        html.put(r#"<line class="empty" x1="0%" x2="100%" y1="13" y2="13"/></svg>"#, &[]);
        return;
    };
    let spoken = words::interval(Some(low), Some(high)).unwrap_or_default();
    html.put(
        r#"<svg class="interval" height="26" role="img" aria-label="{}, 95 % interval {}">"#,
        &[&words::percent(value), &spoken],
    );
    grid(html);
    if let Some(gate) = gate {
        let x = place(gate);
        html.put(r#"<line class="gate" x1="{}" x2="{}" y1="0" y2="26"/>"#, &[&x, &x]);
    }
    if let Some((low, high)) = clustered.and_then(|mean| Some((mean.low?, mean.high?))) {
        let (low, high) = (place(low), place(high));
        html.put(r#"<line class="clustered" x1="{}" x2="{}" y1="21" y2="21"/>"#, &[&low, &high]);
    }
    let (low, high) = (place(low), place(high));
    html.put(r#"<line class="range" x1="{}" x2="{}" y1="13" y2="13"/>"#, &[&low, &high]);
    for end in [&low, &high] {
        html.put(r#"<line class="range" x1="{}" x2="{}" y1="8" y2="18"/>"#, &[end, end]);
    }
    html.put(r#"<circle class="point" cx="{}" cy="13" r="5"/></svg>"#, &[&place(value)]);
}

fn grid(html: &mut Html) {
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let x = place(share);
        html.put(r#"<line class="grid" x1="{}" x2="{}" y1="0" y2="26"/>"#, &[&x, &x]);
    }
}

/// A difference of two shares with its interval, −100 to +100 points around a line at 0.
pub(crate) fn difference(html: &mut Html, value: Option<f64>, low: Option<f64>, high: Option<f64>) {
    let middle = |difference: f64| place((difference + 1.0) / 2.0);
    html.put(r#"<svg class="interval" height="26" aria-hidden="true">"#, &[]);
    html.put(r#"<line class="grid" x1="0%" x2="100%" y1="13" y2="13"/>"#, &[]);
    html.put(r#"<line class="gate" x1="50%" x2="50%" y1="0" y2="26"/>"#, &[]);
    if let (Some(low), Some(high)) = (low, high) {
        let (low, high) = (middle(low), middle(high));
        html.put(r#"<line class="range" x1="{}" x2="{}" y1="13" y2="13"/>"#, &[&low, &high]);
        for end in [&low, &high] {
            html.put(r#"<line class="range" x1="{}" x2="{}" y1="8" y2="18"/>"#, &[end, end]);
        }
    }
    if let Some(value) = value {
        html.put(r#"<circle class="point" cx="{}" cy="13" r="5"/>"#, &[&middle(value)]);
    }
    html.put("</svg>", &[]);
}

/// Parts of a whole, side by side: a class and a count each.
pub(crate) fn stacked(html: &mut Html, label: &str, parts: &[(&'static str, u64)]) {
    let total: u64 = parts.iter().map(|(_, count)| count).sum();
    html.put(r#"<svg class="stacked" height="22" role="img" aria-label="{}">"#, &[&label]);
    let mut from = 0;
    for (class, count) in parts.iter().filter(|(_, count)| *count > 0) {
        let (x, width) = (from as f64 / total as f64, *count as f64 / total as f64);
        html.put(
            r#"<rect class="part {}" x="{}" width="{}" y="1" height="20"/>"#,
            &[class, &place(x), &place(width)],
        );
        from += count;
    }
    html.put("</svg>", &[]);
}

/// One bar from the left.
pub(crate) fn bar(html: &mut Html, class: &'static str, share: f64) {
    html.put(r#"<svg class="stacked" height="16" aria-hidden="true">"#, &[]);
    html.put(
        r#"<rect class="part {}" x="0%" width="{}" y="2" height="12"/></svg>"#,
        &[&class, &place(share)],
    );
}

/// Shares over an ordered scale, each with its interval: a title under each place, a line through the values.
pub(crate) fn curve(html: &mut Html, label: &str, points: &[(String, [f64; 3])]) {
    const HEIGHT: f64 = 150.0;
    let x = |at: usize| place((at as f64 + 0.5) / points.len() as f64);
    let y = |share: f64| format!("{:.1}", 8.0 + (1.0 - share.clamp(0.0, 1.0)) * HEIGHT);
    html.put(r#"<svg class="curve" height="182" role="img" aria-label="{}">"#, &[&label]);
    for (share, title) in [(0.0, "0%"), (0.5, "50%"), (1.0, "100%")] {
        html.put(r#"<line class="grid" x1="0%" x2="100%" y1="{}" y2="{}"/>"#, &[&y(share), &y(share)]);
        html.put(r#"<text x="0%" y="{}" dy="-2">{}</text>"#, &[&y(share), &title]);
    }
    for (at, pair) in points.windows(2).enumerate() {
        let (from, to) = (y(pair[0].1[1]), y(pair[1].1[1]));
        html.put(
            r#"<line class="trend" x1="{}" x2="{}" y1="{}" y2="{}"/>"#,
            &[&x(at), &x(at + 1), &from, &to],
        );
    }
    for (at, (title, [low, value, high])) in points.iter().enumerate() {
        html.put(
            r#"<line class="range" x1="{}" x2="{}" y1="{}" y2="{}"/>"#,
            &[&x(at), &x(at), &y(*low), &y(*high)],
        );
        html.put(r#"<circle class="point" cx="{}" cy="{}" r="5"/>"#, &[&x(at), &y(*value)]);
        html.put(r#"<text x="{}" y="176" text-anchor="middle">{}</text>"#, &[&x(at), title]);
    }
    html.put("</svg>", &[]);
}
