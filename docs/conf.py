"""How Sphinx makes the site: ``python -m sphinx -W -jauto docs docs/_build/html``.

Pages are Markdown (myst-parser). The reference is made of the docstrings (autosummary, numpydoc),
the gallery of the programs in ``docs/examples``, which run while the site is built. The theme is
that of NumPy, pandas and scikit-learn, so that their readers know their way; it has light and dark
colours and a search that works from disk. A page fetches nothing from elsewhere.
"""

from functools import partial

import matplotlib
from jinja2 import FileSystemBytecodeCache
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx

import gbt

matplotlib.use("Agg")
# numpydoc compiles its template anew for every docstring, unless compiled templates are kept.
docscrape_sphinx.SandboxedEnvironment = partial(
    SandboxedEnvironment, bytecode_cache=FileSystemBytecodeCache()
)

project = "gbt-attributions"
author = "The gbt-attributions developers"
copyright = author
release = version = gbt.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "examples", "gallery/**/*.ipynb", "gallery/**/*.py"]
default_role = "autolink"
smartquotes = False  # what is copied from a page works, and it took a sixteenth of the time

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say it
numpydoc_show_class_members = False  # the template of classes lists them
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "parallel": True,  # in as many processes as ``-j`` says
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("gbt", "attributions"),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 10**6,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "capture_repr": ("_repr_html_",),  # displays are drawn, and need no line of text
    "thumbnail_size": (400, 280),
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "gbt-attributions"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["from_disk.js", ("scrolls.js", {"defer": "defer"})]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "gbt-attributions"},
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {page: [] for page in ("start", "questions", "performance", "whats_new")}
html_context = {"default_mode": "auto"}
