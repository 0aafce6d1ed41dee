from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deploy.settings")

application = get_wsgi_application()

from deploy import memory  # noqa: E402  Django is there now

get_resolver().url_patterns  # noqa: B018  every door, before the first request asks for one
memory.freeze()
