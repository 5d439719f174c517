"""The estimators of `crates/proofhouse/src/stats` once more, by SciPy and statsmodels, or from their definition where neither has
them. Nothing here was translated from the Rust code. `tools/scipy values` runs it."""

import itertools
import json
import math
import sys
from fractions import Fraction

import numpy as np
import statsmodels.api as sm
from scipy import optimize, special, stats
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW


def z(level):
    return stats.norm.ppf(0.5 + level / 2)


def t(level, degrees):
    return stats.t.ppf(0.5 + level / 2, degrees)


def wilson(k, n, level):
    return list(proportion_confint(k, n, alpha=1 - level, method="wilson"))


def clopper_pearson(k, n, level):
    exact = stats.binomtest(k, n).proportion_ci(level, method="exact")
    return [exact.low, exact.high]


def binomial(k, n, p):
    return [stats.binom.pmf(k, n, p), stats.binom.cdf(k, n, p), stats.binom.sf(k - 1, n, p), stats.binomtest(k, n, p).pvalue]


def quantiles(level, degrees):
    return [z(level), t(level, degrees)]


def adjusted(*p_values):
    return [*multipletests(p_values, method="holm")[1], *multipletests(p_values, method="fdr_bh")[1]]


def mcnemar(both, first, second, neither):
    table = [[both, first], [second, neither]]
    exact = sm_mcnemar(table, exact=True).pvalue
    n = first + second
    # The mid-p-value counts the observed outcome by half, on both sides.
    mid = exact - stats.binom.pmf(min(first, second), n, 0.5) if first != second else 1 - stats.binom.pmf(first, n, 0.5) / 2 if n else 1.0
    return [exact, mid]


def newcombe(both, first, second, neither, level):
    # Newcombe (1998), method 10, with the Wilson limits of statsmodels.
    n = both + first + second + neither
    p1, p2 = (both + first) / n, (both + second) / n
    (l1, u1), (l2, u2) = wilson(both + first, n, level), wilson(both + second, n, level)
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    top = both * neither - first * second
    top = max(top - n / 2, 0) if top > 0 else top
    phi = top / math.sqrt(margins) if margins else 0.0
    difference = p2 - p1
    low = (p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2
    high = (u2 - p2) ** 2 - 2 * phi * (u2 - p2) * (p1 - l1) + (p1 - l1) ** 2
    return [difference, max(difference - math.sqrt(max(low, 0)), -1), min(difference + math.sqrt(max(high, 0)), 1)]


def tango(both, first, second, neither, level):
    # Tango (1998): the score test's limits, with the most likely discordance found numerically instead of by his quadratic.
    n, b, c = both + first + second + neither, second, first
    wanted = z(level)

    def score(delta):
        # Under the difference delta the cells are q + delta, q and the rest; its likelihood has one maximum in q.
        low, high = max(0.0, -delta), (1 - delta) / 2
        cells = lambda q: [(b, q + delta, 1), (c, q, 1), (n - b - c, 1 - delta - 2 * q, -2)]
        slope = lambda q: sum(count * sign / max(share, 1e-200) for count, share, sign in cells(q) if count)
        inside = low + (high - low) * 1e-15, high - (high - low) * 1e-15
        if slope(inside[0]) <= 0:
            q = low
        elif slope(inside[1]) >= 0:
            q = high
        else:
            q = optimize.brentq(slope, *inside, xtol=1e-16, rtol=1e-15)
        variance = n * (2 * q + delta * (1 - delta))
        return (b - c - n * delta) / math.sqrt(variance)

    estimate = (b - c) / n
    edge = 1e-12
    low = optimize.brentq(lambda d: score(d) - wanted, -1 + edge, estimate - edge, xtol=1e-14)
    high = optimize.brentq(lambda d: score(d) + wanted, estimate + edge, 1 - edge, xtol=1e-14)
    return [low, high]


def student(level, *values):
    summary = DescrStatsW(np.array(values, float))
    low, high = summary.tconfint_mean(alpha=1 - level)
    return [summary.mean, summary.std_mean * math.sqrt(len(values)), max(low, -1), min(high, 1)]


def clustered(level, *clusters):
    # Passed and tried by cluster; the variance is statsmodels' cluster-robust one of a mean.
    scores = [float(at < passed) for passed, tried in clusters for at in range(tried)]
    groups = [at for at, (_, tried) in enumerate(clusters) for _ in range(tried)]
    fit = sm.OLS(scores, np.ones(len(scores))).fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True})
    rate, error, count = fit.params[0], fit.bse[0], len(clusters)
    reach = t(level, count - 1) * error
    # Korn and Graubard (1998): as many trials as would have this variance, corrected for the few clusters.
    size = min(rate * (1 - rate) / error**2 * (z(level) / t(level, count - 1)) ** 2, len(scores))
    low, high = proportion_confint(rate * size, size, alpha=1 - level, method="wilson")
    # No more is excluded than clusters that all agree would exclude.
    none, _ = proportion_confint(count, count, alpha=1 - level, method="wilson")
    _, all_of_them = proportion_confint(0, count, alpha=1 - level, method="wilson")
    return [rate, error, max(rate - reach, 0), min(rate + reach, 1), min(low, none), max(high, all_of_them)]


def sign_flip(*values):
    values = np.array(values, float)
    test = stats.permutation_test((values,), lambda x, axis: np.abs(x.sum(axis=axis)).round(9), permutation_type="samples", alternative="greater", n_resamples=np.inf, vectorized=True)
    return [test.pvalue]


def pass_at_k(n, c, k):
    return [float(1 - Fraction(math.comb(n - c, k), math.comb(n, k)))]


def gaffke(level, *values):
    # The weighted mean of distinct values under uniform weights has a B-spline for its density: its tail is a divided difference.
    tail = Fraction((1 - level) / 2)

    def above(points, at):
        total = Fraction(0)
        for i, x in enumerate(points):
            if x > at:
                product = Fraction(1)
                for j, y in enumerate(points):
                    if i != j:
                        product *= (x - at) / (x - y)
                total += product
        return total

    def limit(points, inside, outside, chance):
        for _ in range(60):
            middle = (inside + outside) / 2
            middle = Fraction(round(middle * 2**70), 2**70)
            if chance(points, middle) >= tail:
                inside = middle
            else:
                outside = middle
        return float(inside)

    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    low = limit([*exact, Fraction(0)], mean, Fraction(0), lambda points, at: 1 - above(points, at))
    high = limit([*exact, Fraction(1)], mean, Fraction(1), above)
    return [low, high]


def unpaired_power(n, base, other, level):
    # R's power.prop.test: the normal approximation with the pooled variance under the null.
    pooled = (base + other) / 2
    spread = math.sqrt(base * (1 - base) + other * (1 - other))
    return [stats.norm.cdf((math.sqrt(n) * abs(other - base) - z(level) * math.sqrt(2 * pooled * (1 - pooled))) / spread)]


def paired_power(n, discordance, effect, level):
    spread = math.sqrt(discordance - effect**2)
    return [stats.norm.cdf((math.sqrt(n) * effect - z(level) * math.sqrt(discordance)) / spread)]


def confidence_sequence(hits, runs, error):
    # All shares p for which the beta-binomial mixture is less than 1/error times the likelihood (Robbins 1970).
    mixture = special.betaln(hits + 0.5, runs - hits + 0.5) - special.betaln(0.5, 0.5)
    against = lambda p: mixture - special.xlogy(hits, p) - special.xlogy(runs - hits, 1 - p) + math.log(error)
    rate = hits / runs
    low = optimize.brentq(against, 1e-300, rate, xtol=1e-15, rtol=1e-14) if hits else 0.0
    high = optimize.brentq(against, rate, 1 - 1e-16, xtol=1e-15, rtol=1e-14) if hits < runs else 1.0
    return [low, high]


def falling_fit(values, weights):
    return list(optimize.isotonic_regression(values, weights=weights, increasing=False).x)


def exact_strata(*strata):
    # Hits of the first group given all margins: a sum of hypergeometric variables, of which all outcomes are no likelier than ours.
    chances, observed = {0: 1.0}, 0
    for a, n, b, m in strata:
        table = stats.hypergeom(n + m, a + b, n)
        own = {k: table.pmf(k) for k in range(max(0, a + b - m), min(a + b, n) + 1)}
        following = {}
        for total, chance in chances.items():
            for k, weight in own.items():
                following[total + k] = following.get(total + k, 0.0) + chance * weight
        chances, observed = following, observed + a
    return [min(1.0, sum(chance for chance in chances.values() if chance <= chances[observed] * (1 + 1e-7)))]


def large_strata(*strata):
    tables = [np.array([[a, n - a], [b, m - b]]) for a, n, b, m in strata]
    return [StratifiedTable(tables).test_null_odds(correction=False).pvalue]


def stratified_difference(level, *strata):
    # MOVER (Zou and Donner 2008) with the Wilson limits of statsmodels and the weights of Cochran.
    weights = [n * m / (n + m) for _, n, _, m in strata]
    weights = [weight / sum(weights) for weight in weights]
    difference = sum(w * (b / m - a / n) for w, (a, n, b, m) in zip(weights, strata))
    below = above = 0.0
    for w, (a, n, b, m) in zip(weights, strata):
        (l1, u1), (l2, u2) = wilson(a, n, level), wilson(b, m, level)
        below += w**2 * ((b / m - l2) ** 2 + (u1 - a / n) ** 2)
        above += w**2 * ((u2 - b / m) ** 2 + (a / n - l1) ** 2)
    return [difference, max(difference - math.sqrt(below), -1), min(difference + math.sqrt(above), 1)]


def disagreement(*wordings):
    # Gini's mean difference between and within wordings, over all pairs of runs.
    pairs = lambda runs: [float(x != y) for x, y in itertools.combinations(runs, 2)]
    between = [np.mean([float(x != y) for x in a for y in b]) for a, b in itertools.combinations(wordings, 2)]
    return [np.mean(between), np.mean([np.mean(pairs(runs)) for runs in wordings])]


def components(*cases):
    # Henderson's first method for a balanced nested design: mean squares, equated to what they estimate.
    data = np.array(cases, float)
    a, b, n = data.shape
    cell, case = data.mean(axis=2), data.mean(axis=(1, 2))
    within = ((data - cell[:, :, None]) ** 2).sum() / (a * b * (n - 1))
    wording = n * ((cell - case[:, None]) ** 2).sum() / (a * (b - 1))
    between = b * n * ((case - data.mean()) ** 2).sum() / (a - 1)
    return [max((between - wording) / (b * n), 0.0), max((wording - within) / n, 0.0), within]


def rogan_gladen(seen, n, ksens, nsens, kspec, nspec, level):
    # Rogan and Gladen (1978); Lang and Reiczigel (2014): the delta method on counts to which z^2/2 of z^2 and 1 of 2 are added.
    se, sp = Fraction(ksens, nsens), Fraction(kspec, nspec)
    plain = min(max((seen + float(sp) - 1) / float(se + sp - 1), 0.0), 1.0)
    q = z(level)
    n1, n2, n3 = n + q**2, nsens + 2, nspec + 2
    p, se, sp = (seen * n + q**2 / 2) / n1, (ksens + 1) / n2, (kspec + 1) / n3
    j = se + sp - 1
    if j <= 0:
        return [plain, 0.0, 1.0]
    truth = min(max((p + sp - 1) / j, 0.0), 1.0)
    # The gradient of (p + sp - 1) / (se + sp - 1) by its three arguments, at the truth.
    gradient = np.array([1 / j, -truth / j, (1 - truth) / j])
    spread = np.array([p * (1 - p) / n1, se * (1 - se) / n2, sp * (1 - sp) / n3])
    reach = q * math.sqrt(gradient**2 @ spread)
    shift = 2 * q**2 * (truth * spread[1] - (1 - truth) * spread[2])
    return [plain, min(max(truth + shift - reach, 0), 1), min(max(truth + shift + reach, 0), 1)]


def krippendorff(level, *cases):
    # By Krippendorff's coincidence matrix over the values that occur; then by leaving out one case after the other.
    def alpha(cases):
        units = [unit for case in cases for unit in case if len(unit) > 1]
        values = sorted({value for unit in units for value in unit})
        place = {value: at for at, value in enumerate(values)}
        matrix = np.zeros((len(values), len(values)))
        for unit in units:
            for a, b in itertools.permutations(range(len(unit)), 2):
                matrix[place[unit[a]], place[unit[b]]] += 1 / (len(unit) - 1)
        totals = matrix.sum(axis=1)
        n = totals.sum()
        metric = np.array([[(a - b) ** 2 for b in values] for a in values])
        expected = (np.outer(totals, totals) * metric).sum()
        return 1 - (n - 1) * (matrix * metric).sum() / expected

    whole = alpha(cases)
    left = [alpha(cases[:at] + cases[at + 1 :]) for at in range(len(cases))]
    reach = t(level, len(cases) - 1) * math.sqrt((len(cases) - 1) * np.var(left))
    return [whole, max(whole - reach, -1.0), min(whole + reach, 1.0)]


def exact_power(n, discordance, effect, level):
    # Over all numbers of differing pairs, the chance that SciPy's exact test of a coin rejects towards the better side.
    power = 0.0
    favours = (discordance + effect) / (2 * discordance)
    for m in range(n + 1):
        weight = stats.binom.pmf(m, n, discordance)
        k = np.arange(m // 2 + 1, m + 1)
        rejected = k[2 * stats.binom.sf(k - 1, m, 0.5) <= level]
        if len(rejected):
            power += weight * stats.binom.sf(rejected[0] - 1, m, favours)
    return [power]


def main():
    known = globals()
    print(json.dumps([[float(value) for value in known[name](*arguments)] for name, *arguments in json.load(sys.stdin)]))


main()
