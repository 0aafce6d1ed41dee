from django.urls import path

from casino.api import floor, keys, rulings, sign_in, waivers

urlpatterns = [
    path("session", sign_in.Session.as_view()),
    path("tables", floor.Tables.as_view()),
    path("tables/<str:code>/events", floor.TableEvents.as_view()),
    path("tables/<str:code>/duty", floor.TableDuty.as_view()),
    path("tables/<str:code>/stop", floor.TableStop.as_view()),
    path("signatures", floor.Signatures.as_view()),
    path("keys", keys.Keys.as_view()),
    path("keys/<uuid:key>/rotate", keys.KeyRotation.as_view()),
    path("keys/<uuid:key>/revoke", keys.KeyRevocation.as_view()),
    path("devices", floor.Devices.as_view()),
    path("devices/self/state", floor.OwnState.as_view()),
    path("tables/<str:code>/rounds/<int:first>-<int:last>/waive", waivers.RoundWaivers.as_view()),
    path("rounds/<uuid:round>/rulings", rulings.Rulings.as_view()),
    path("rounds/<uuid:round>/mispays", rulings.Mispays.as_view()),
    path("devices/<uuid:device>/gaps/<int:first>-<int:last>/waive", waivers.GapWaivers.as_view()),
]
