"""Files in: formats, the roles of columns, and what a file holds."""

from dataworth.data.io.describe import Description, describe
from dataworth.data.io.image_tables import read_images
from dataworth.data.io.images import ImageTable
from dataworth.data.io.readers import read, read_table, read_with_roles
from dataworth.data.io.roles import Role, assign_roles

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
