from django.urls import URLPattern, URLResolver, path

from audit.api import entries

urlpatterns: list[URLPattern | URLResolver] = [
    path("audit/entries", entries.Entries.as_view(), name="audit-entries"),
]
