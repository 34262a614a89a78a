"""The ports of a catalog as they travel: operations, values, errors. Shared by the server and its client."""
