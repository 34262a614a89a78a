"""What happens in a lake, as pages and as a stream."""
