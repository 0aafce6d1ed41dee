"""How gunicorn serves the house: `gunicorn -c python:deploy.gunicorn deploy.wsgi:application`."""

from __future__ import annotations

import os

from deploy import logs

bind = os.environ.get("BIND", "127.0.0.1:8000")
workers = int(os.environ.get("WEB_WORKERS", "2"))
worker_class = "deploy.serving.Worker"
threads = int(os.environ.get("WEB_THREADS", "4"))
# Above the statement time-out, so that a request ends by an answer and not by a killed worker.
timeout = 30
graceful_timeout = 25
forwarded_allow_ips = ""  # who is believed is said in one place, deploy.edge
control_socket_disable = True  # nobody steers it but by signals
proc_name = "pokdeng-web"
logconfig_dict = logs.configuration(level="INFO")
logconfig_dict["loggers"]["waitress.queue"] = {"level": "ERROR"}  # that a request waits a moment for a thread
logconfig_dict["loggers"]["gunicorn.error"] = {"handlers": [], "level": "INFO", "propagate": True}
logconfig_dict["loggers"]["gunicorn.access"] = {"handlers": [], "level": "WARNING", "propagate": True}
