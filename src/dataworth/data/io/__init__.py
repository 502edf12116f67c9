"""Files in: formats, the types and roles of columns, and what a file holds."""

from .align import read_together as read_together
from .image_tables import read_images as read_images
from .notes import ReadingWarning as ReadingWarning
from .readers import Description as Description
from .readers import describe as describe
from .readers import read as read
from .roles import Role as Role
from .roles import assign_roles as assign_roles
