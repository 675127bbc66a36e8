"""Steps before a model: pipelines are opened, and every column that comes out is traced to its own.

``opening`` finds the steps of a pipeline, or of a search over one, and makes a
``gbt.model.preparation.Preparation`` of them; ``tracing`` follows the columns from step to step.
"""

from gbt.formats.steps.opening import preparation_of, steps_before

__all__ = ["preparation_of", "steps_before"]
