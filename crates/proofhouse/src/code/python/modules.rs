//! Import names of packages that everybody knows: an answer that wants one of them and does not find it is not to blame.

/// By import name, which is not always the name by which one is installed.
const PACKAGES: [&str; 88] = [
    "Crypto", "IPython", "OpenSSL", "PIL", "aiofiles", "aiohttp", "airflow", "arrow", "attr", "babel",
    "bcrypt", "bokeh", "boto3", "bs4", "cachetools", "celery", "certifi", "chardet", "click", "colorama",
    "cryptography", "cv2", "cvxpy", "cython", "dask", "dateutil", "deap", "django", "docx", "emoji",
    "faker", "fastapi", "flask", "gensim", "gmpy2", "gym", "httpx", "hypothesis", "jax", "jinja2",
    "joblib", "jsonschema", "keras", "langdetect", "lxml", "markdown", "matplotlib", "mpmath",
    "more_itertools", "networkx", "nltk", "numba", "numexpr", "numpy", "openpyxl", "ortools", "pandas",
    "plotly", "polars", "prettytable", "psutil", "psycopg2", "pulp", "pydantic", "pygame", "pymongo",
    "pyparsing", "pytest", "pytz", "redis", "regex", "requests", "rich", "scipy", "seaborn", "shapely",
    "simplejson", "six", "sklearn", "sortedcontainers", "spacy", "sqlalchemy", "statsmodels", "sympy",
    "tensorflow", "torch", "tqdm", "yaml",
];

/// Whether a package of that import name is one of them.
pub(super) fn is_package(name: &str) -> bool {
    PACKAGES.contains(&name)
}
