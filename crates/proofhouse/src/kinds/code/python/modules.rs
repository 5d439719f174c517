//! Import names of packages that everybody knows: an answer that wants one of them and does not find it is not to blame.

/// By import name, which is not always the name by which one is installed.
const PACKAGES: [&str; 88] = [
    "Crypto",
    "IPython",
    "OpenSSL",
    "PIL",
    "aiofiles",
    "aiohttp",
    "airflow",
    "arrow",
    "attr",
    "babel",
    "bcrypt",
    "bokeh",
    "boto3",
    "bs4",
    "cachetools",
    "celery",
    "certifi",
    "chardet",
    "click",
    "colorama",
    "cryptography",
    "cv2",
    "cvxpy",
    "cython",
    "dask",
    "dateutil",
    "deap",
    "django",
    "docx",
    "emoji",
    "faker",
    "fastapi",
    "flask",
    "gensim",
    "gmpy2",
    "gym",
    "httpx",
    "hypothesis",
    "jax",
    "jinja2",
    "joblib",
    "jsonschema",
    "keras",
    "langdetect",
    "lxml",
    "markdown",
    "matplotlib",
    "mpmath",
    "more_itertools",
    "networkx",
    "nltk",
    "numba",
    "numexpr",
    "numpy",
    "openpyxl",
    "ortools",
    "pandas",
    "plotly",
    "polars",
    "prettytable",
    "psutil",
    "psycopg2",
    "pulp",
    "pydantic",
    "pygame",
    "pymongo",
    "pyparsing",
    "pytest",
    "pytz",
    "redis",
    "regex",
    "requests",
    "rich",
    "scipy",
    "seaborn",
    "shapely",
    "simplejson",
    "six",
    "sklearn",
    "sortedcontainers",
    "spacy",
    "sqlalchemy",
    "statsmodels",
    "sympy",
    "tensorflow",
    "torch",
    "tqdm",
    "yaml",
];

/// Whether a package of that import name is one of them.
pub(super) fn is_package(name: &str) -> bool {
    PACKAGES.contains(&name)
}

/// Those of them that an answer names.
pub(super) fn named_in(answer: &str) -> Vec<&'static str> {
    PACKAGES.into_iter().filter(|name| answer.contains(name)).collect()
}

/// Whether an answer has an import of that name in its text: who only raises what a missing module would is not missing one.
pub(super) fn is_imported(name: &str, answer: &str) -> bool {
    answer.lines().any(|line| {
        let words: Vec<&str> =
            line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        let named = words.iter().position(|word| *word == name);
        named.is_some_and(|at| {
            let before = &words[..at];
            before.last() == Some(&"from")
                || before.contains(&"import")
                || before.contains(&"__import__")
                || before.contains(&"import_module")
        })
    })
}

#[cfg(test)]
mod import_tests {
    use super::*;

    #[test]
    fn an_import_is_told_from_its_name() {
        for text in [
            "import numpy as np",
            "    from numpy.linalg import norm",
            "import math, numpy",
            "x = __import__('numpy')",
        ] {
            assert!(is_imported("numpy", text), "{text}");
        }
        for text in ["raise ModuleNotFoundError('x', name='numpy')", "numpy = 1", "import numpy2", ""] {
            assert!(!is_imported("numpy", text), "{text}");
        }
    }
}
