"""Gradients of a language model: one vector a response."""

from dataworth.embed.gradients.embedder import embed_gradients
from dataworth.embed.gradients.store import Store

__all__ = ["Store", "embed_gradients"]
