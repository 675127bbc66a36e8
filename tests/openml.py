"""OpenML's answers for one table, from the copies that scikit-learn tests itself with.

README fetches the passengers of the Titanic over the network, as a reader would. A test has none,
and scikit-learn's wheel has the whole answer among its own tests: nothing need be kept here.
"""

import gzip
import io
from pathlib import Path
from urllib.parse import urlsplit

import sklearn.datasets

STORED = Path(sklearn.datasets.__file__).parent / "tests/data/openml"
ANSWERS = {
    "/api/v1/json/data/40945": "id_40945/api-v1-jd-40945.json.gz",
    "/api/v1/json/data/features/40945": "id_40945/api-v1-jdf-40945.json.gz",
    "/api/v1/json/data/qualities/40945": "id_40945/api-v1-jdq-40945.json.gz",
    "/data/v1/download/16826755/Titanic.arff": "id_40945/data-v1-dl-16826755.arff.gz",
}


class Answer(io.BytesIO):
    """What ``urllib.request.urlopen`` returns, as far as scikit-learn looks at it."""

    def info(self):
        return {"Content-Encoding": ""}


def stored_answer(request, timeout=None):
    """Answer a request to OpenML in place of ``urlopen``."""
    path = urlsplit(request.full_url).path
    return Answer(gzip.decompress((STORED / ANSWERS[path]).read_bytes()))
