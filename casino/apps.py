from django.apps import AppConfig


class CasinoConfig(AppConfig):
    name = "casino"
    verbose_name = "Casino: the floor, recorded"
    default_auto_field = "django.db.models.BigAutoField"
