from django.urls import path

from casino.api import devices, floor, keys, people, places, rulings, sign_in, unlocking, upkeep, waivers

urlpatterns = [
    path("session", sign_in.Session.as_view()),
    path("session/secrets", people.OwnSecrets.as_view()),
    path("people", people.People.as_view()),
    path("people/take-over", people.TakeOver.as_view()),
    path("people/<str:badge>", people.PersonDetail.as_view()),
    path("people/<str:badge>/appointments", people.Appointments.as_view()),
    path("people/<str:badge>/end", people.Leaving.as_view()),
    path("people/<str:badge>/hand-overs", people.HandOvers.as_view()),
    path("people/<str:badge>/unlock", unlocking.Unlocking.as_view()),
    path("tables", places.Tables.as_view()),
    path("cages", places.Cages.as_view()),
    path("tables/<str:code>/events", floor.TableEvents.as_view()),
    path("tables/<str:code>/duty", floor.TableDuty.as_view()),
    path("tables/<str:code>/stop", floor.TableStop.as_view()),
    path("health", upkeep.Health.as_view()),
    path("signatures", floor.Signatures.as_view()),
    path("keys", keys.Keys.as_view()),
    path("keys/<uuid:key>/rotate", keys.KeyRotation.as_view()),
    path("keys/<uuid:key>/revoke", keys.KeyRevocation.as_view()),
    path("devices", devices.Devices.as_view()),
    path("devices/enrolments", devices.Enrolments.as_view()),
    path("devices/self/state", devices.OwnState.as_view()),
    path("devices/self/token", devices.OwnToken.as_view()),
    path("devices/<uuid:device>/revoke", devices.DeviceRevocation.as_view()),
    path("tables/<str:code>/rounds/<int:first>-<int:last>/waive", waivers.RoundWaivers.as_view()),
    path("rounds/<uuid:round>/rulings", rulings.Rulings.as_view()),
    path("rounds/<uuid:round>/mispays", rulings.Mispays.as_view()),
    path("devices/<uuid:device>/gaps/<int:first>-<int:last>/waive", waivers.GapWaivers.as_view()),
]
