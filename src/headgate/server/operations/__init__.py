"""What every request passes, whichever API it is for: limits, quotas, logs, metrics and the way out."""
