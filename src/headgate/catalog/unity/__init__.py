"""A client of catalogs that are not ours: Unity Catalog servers, by the API that every Delta engine speaks.

``headgate.connect("uc+https://host/catalog", token=…)``. The Delta API comes first; a server that has none is
spoken to by the older one. What a lake needs and such a server has not is done by this client where that is
safe, and refused with what is missing where it is not.
"""
