"""Images, texts and gradients to vectors; torch is imported when a network is first used."""

from dataworth.embed.texts import encode
from dataworth.embed.vectors import Embedded, embed, embed_table, pca

__all__ = ["Embedded", "embed", "embed_table", "encode", "pca"]
