"""Which trainer predicts best, and which importance selects best, on many real tables."""
