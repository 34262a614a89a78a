"""``headgate top``: a lake as it is at the moment, looked at again and again."""
