"""All importances of this library side by side: what they find, and what they find falsely."""
