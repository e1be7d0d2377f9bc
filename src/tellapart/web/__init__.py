"""The web app: sessions over HTTP, for programs and for people.

`create_app` makes the application, `tellapart serve` runs it. docs/serve.md shows how to use it and
has the routes, docs/serve.md says what is promised. Needs the extra 'app'.
"""

from tellapart.errors import MissingExtra

try:
    import fastapi as fastapi
    import jinja2 as jinja2
    import prometheus_client as prometheus_client
    import uvicorn as uvicorn
except ImportError as error:
    raise MissingExtra("the web app", "app") from error

from tellapart.web.access import Limits, People, Person
from tellapart.web.app import create_app
from tellapart.web.session_pool import SessionPool

__all__ = ["Limits", "People", "Person", "SessionPool", "create_app"]
