//! stand-in
#[derive(Clone, Copy)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}
pub fn wilson(k: u64, n: u64) -> Option<Interval> {
    if n == 0 {
        return None;
    }
    let (k, n, z) = (k as f64, n as f64, 1.959963984540054f64);
    let p = k / n;
    let d = 1.0 + z * z / n;
    let c = (p + z * z / (2.0 * n)) / d;
    let h = z / d * ((p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt());
    Some(Interval { low: (c - h).max(0.0), high: (c + h).min(1.0) })
}
pub fn mcnemar_exact(_: u64, _: u64) -> f64 {
    1.0
}
pub fn paired_difference(_: u64, _: u64, _: u64, _: u64) -> Option<Interval> {
    Some(Interval { low: -1.0, high: 1.0 })
}
pub fn round_sig(x: f64, _: i32) -> f64 {
    x
}
