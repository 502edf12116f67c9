"""dataworth: how much is this data worth, in information rather than in benchmark points?

Names are imported when they are first used, so that `import dataworth` costs next to nothing. The file
`__init__.pyi` beside this one lists them, and where each lives.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
