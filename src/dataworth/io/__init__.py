"""Files in: formats, the roles of columns, and what a file holds."""

from dataworth.io.describe import Description, describe
from dataworth.io.readers import read, read_table, read_with_roles
from dataworth.io.roles import Role, assign_roles

__all__ = ["Description", "Role", "assign_roles", "describe", "read", "read_table", "read_with_roles"]
