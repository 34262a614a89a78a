"""What every call of a user shares, whoever answers it: arguments taken as meant, errors told briefly.

It lies below the catalog, so that everything a user holds can be inside the boundary, a lease as much as a
table. What only Spark has, its columns and frames among the arguments and its errors, is added above, by
``spark/calls``, to a boundary of its own.
"""
