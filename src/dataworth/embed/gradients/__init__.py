"""Gradients of a language model: one vector a response."""

from dataworth.embed.gradients.embedder import embed_gradients
from dataworth.embed.gradients.store import Store
from dataworth.embed.gradients.tables import gradient_table

__all__ = ["Store", "embed_gradients", "gradient_table"]
