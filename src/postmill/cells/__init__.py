"""Several databases under one roof: where tenants live, and how one moves while the others run."""
