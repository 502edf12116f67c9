"""One pipeline: options, prepare, designs, the one loop, summary; intervals, slices, questions.

Its outward names are in `__init__.pyi`; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
