"""Keyed hashes: what a buyer or a seller can show without giving the content away.

A plain hash of a test set is a test for guesses: who has its rows tries labels until the hash fits. A keyed
hash, HMAC-SHA256(key, content hash), fits nothing without the key, which stays with its owner.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

from ..errors import DataworthError
from ..wording import option
from .dataset import Dataset

MIN_KEY_LENGTH = 16
"""Characters of a key that the user chooses."""


def new_key() -> str:
    """128 random bits, as text."""
    return secrets.token_hex(16)


def is_key(key: object) -> bool:
    """Whether this can be a key; what a file calls its key can be anything."""
    return isinstance(key, str) and len(key) >= MIN_KEY_LENGTH


def keyed_hash(content: str, key: str) -> str:
    """HMAC-SHA256 of a content hash."""
    if not is_key(key):
        how = f"give {MIN_KEY_LENGTH} characters or more, or none to get one"
        raise DataworthError(f"the key is too short: {how}.")
    return hmac.new(_bytes(key), content.encode(), "sha256").hexdigest()


def _bytes(text: str) -> bytes:
    """A text as bytes, also one that JSON makes of half a character."""
    return text.encode(errors="surrogatepass")


@dataclass(frozen=True)
class Commitment:
    """A keyed hash of a dataset, the key, and how many rows it is of. Publish the hash, keep the key."""

    hash: str
    key: str
    rows: int


def commit(data: Dataset, key: str | None = None) -> Commitment:
    """Commit to a dataset without showing it.

    Args:
        data: the dataset, say before curation.
        key: 16 characters or more; by default a random one is made.

    Returns:
        A `Commitment`. Its hash is to be given away, its key to be kept until the data are shown.

    Raises:
        DataworthError: if the key is too short.

    >>> data = Dataset([[1.0], [2.0]], [0, 1])
    >>> made = commit(data)
    >>> check_commitment(data, made.hash, made.key)
    """
    key = new_key() if key is None else key
    return Commitment(keyed_hash(data.content_hash(), key), key, len(data))


def opens(content: str, committed: str, key: str) -> bool:
    """Whether a content hash and the key give the committed hash."""
    found = str(committed).strip().lower()
    return hmac.compare_digest(_bytes(keyed_hash(content, key)), _bytes(found))  # texts must be ASCII


def check_commitment(data: Dataset, committed: str, key: str | None) -> None:
    """Nothing if the dataset is the one that was committed to, else a sentence."""
    if key is None:
        raise DataworthError(f"committed needs the key that was printed with it: give {option('key')}.")
    if not opens(data.content_hash(), committed, key):
        raise DataworthError(
            "the data before curation are not those that were committed to (or the key is another one, or "
            "columns are read otherwise): give the file of 'dataworth commit', its key and its options."
        )
