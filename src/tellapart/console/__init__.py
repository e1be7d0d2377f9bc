"""Teaching in a terminal: the same session, keys and words as on the page."""
