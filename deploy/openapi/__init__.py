"""The description of the interface (OpenAPI 3.1), made from the doors themselves."""

from deploy.openapi.document import document

__all__ = ["document"]
