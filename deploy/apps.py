from django.apps import AppConfig


class DeployConfig(AppConfig):
    name = "deploy"
    verbose_name = "Deploy: the three layers as one service"

    def ready(self) -> None:
        from deploy import celery, checks  # noqa: F401  tasks bind to the one application; checks are registered
