from django.urls import URLPattern, URLResolver, path

from audit import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("audit/entries", api.Entries.as_view(), name="audit-entries")
]
