"""A suite: audits that must pass before data are merged, in `dataworth.toml`; `dataworth check` runs it."""
