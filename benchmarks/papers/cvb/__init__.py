"""Cross-validated boosting of Adler and Painsky (2022): their simulations and their real tables."""
