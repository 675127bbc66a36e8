"""Metrics of people's own are larger for better predictions; names tell those that are not."""

NAMES_OF_ERRORS = ("_error", "_loss", "_deviance", "mse", "mae", "mape", "logloss")  # how they end


def is_name_of_error(name: str) -> bool:
    """Say whether a function that is called so is smaller for better predictions."""
    return name.lower().endswith(NAMES_OF_ERRORS) and not name.startswith("neg")
