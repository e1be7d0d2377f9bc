"""What a session has to show, as plain JSON values: the API sends them, the pages draw them."""
