"""Files in: formats, the roles of columns, and what a file holds."""

from dataworth.io.describe import Description, describe
from dataworth.io.image_tables import read_images
from dataworth.io.images import ImageTable
from dataworth.io.readers import read, read_table, read_with_roles
from dataworth.io.roles import Role, assign_roles

__all__ = [
    "Description",
    "ImageTable",
    "Role",
    "assign_roles",
    "describe",
    "read",
    "read_images",
    "read_table",
    "read_with_roles",
]
