from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from deploy import csp_reports, health
from deploy.guides.views import Guide
from deploy.openapi.views import Schema

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("api/v1/", include("casino.urls")),
    path("api/v1/", include("settlement.urls")),
    path("api/v1/", include("audit.urls")),
    path("api/schema/", Schema.as_view(), name="schema"),
    path("api/docs/camera/", Guide.as_view(name="camera"), name="guide-camera"),
    path("api/docs/cashier-system/", Guide.as_view(name="cashier-system"), name="guide-cashier-system"),
    path("api/docs/", SpectacularSwaggerSplitView.as_view(), name="docs"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("csp-reports/", csp_reports.record, name="csp-reports"),
]

handler400 = "deploy.errors.bad_request"
handler403 = "deploy.errors.forbidden"
handler404 = "deploy.errors.not_found"
handler500 = "deploy.errors.failed"
