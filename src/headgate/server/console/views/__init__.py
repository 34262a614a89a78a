"""What pages show: frozen values, made by pure functions from what the ports of a catalog answer."""
