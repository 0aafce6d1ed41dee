"""The Celery application. Tasks live in each layer's `tasks.py` and are rung from there alone."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deploy.settings")

app = Celery("pokdeng")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
