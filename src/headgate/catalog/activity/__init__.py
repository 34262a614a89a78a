"""What goes on in a lake: events, leases, and which maintenance is permitted."""
