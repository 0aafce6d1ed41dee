from django.urls import URLPattern, URLResolver, path

from audit.api import analytics, decisions, disputes, dossier, entries, flags, footers, inspections, proofs

urlpatterns: list[URLPattern | URLResolver] = [
    path("audit/entries", entries.Entries.as_view(), name="audit-entries"),
    path("audit/entries/<int:entry>/proof", proofs.EntryProof.as_view()),
    path("audit/proof", proofs.HashProof.as_view()),
    path("audit/checkpoint", proofs.Checkpoint.as_view(), name="audit-checkpoint"),
    path("audit/verified", inspections.Verified.as_view()),
    path("audit/consistency", proofs.Consistency.as_view()),
    path("days/<str:day>/report/footer", footers.DayFooter.as_view()),
    path("shifts/<uuid:shift>/report/footer", footers.ShiftFooter.as_view()),
    path("rounds/<uuid:round>/dossier", dossier.RoundDossier.as_view()),
    path("disputes/<uuid:dispute>/dossier", dossier.DisputeDossier.as_view()),
    path("analytics", analytics.Analyses.as_view()),
    path("analytics/runs", analytics.AnalysisRuns.as_view()),
    path("analytics/<str:screen>", analytics.AnalysisScreen.as_view()),
    path("analytics/decks/<uuid:round>/rounds", analytics.DeckRounds.as_view()),
    path("flags", flags.Flags.as_view()),
    path("flags/<uuid:flag>", flags.FlagDetail.as_view()),
    path("flags/<uuid:flag>/close", flags.FlagClosing.as_view()),
    path("flags/<uuid:flag>/dispute", flags.FlagDispute.as_view()),
    path("disputes", disputes.Disputes.as_view()),
    path("disputes/<uuid:dispute>", disputes.DisputeDetail.as_view()),
    path("disputes/<uuid:dispute>/claim", decisions.DisputeClaim.as_view()),
    path("disputes/<uuid:dispute>/renew", decisions.DisputeRenewal.as_view()),
    path("disputes/<uuid:dispute>/take-over", decisions.DisputeTakeOver.as_view()),
    path("disputes/<uuid:dispute>/snooze", decisions.DisputeSnooze.as_view()),
    path("disputes/<uuid:dispute>/proposals", decisions.DisputeProposals.as_view()),
    path("disputes/<uuid:dispute>/decide", decisions.DisputeDecision.as_view()),
]
