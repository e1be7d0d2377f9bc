"""The shapes of what is sent and told over HTTP, for the schema in /api/openapi.json."""
