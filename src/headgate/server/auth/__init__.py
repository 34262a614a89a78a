"""By what is a caller known? The admin's token, tokens of the lakes, and tokens of OpenID Connect issuers."""
