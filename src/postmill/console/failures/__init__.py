"""What pages of failures share: comparisons, tracebacks, forms of payloads."""
