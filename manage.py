#!/usr/bin/env python3
"""The house's commands: `up`, `down`, `test`, and Django's. Makes its own environment on first use."""

import os
import sys

if sys.version_info < (3, 11):
    sys.exit(
        "This needs Python 3.11 or newer; this is Python %d.%d. Run it as: python3.11 manage.py ..."
        % sys.version_info[:2]
    )


def main() -> None:
    from deploy import bootstrap

    bootstrap.enter()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deploy.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"The settings cannot be used: {error}")


if __name__ == "__main__":
    main()
