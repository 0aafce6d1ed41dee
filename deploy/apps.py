from django.apps import AppConfig


class DeployConfig(AppConfig):
    name = "deploy"
    verbose_name = "Deploy: the three layers as one service"

    def ready(self) -> None:
        from deploy import celery, checks, openapi  # noqa: F401  each registers what it holds
        from settlement import webhooks

        webhooks.ring_with(_wake)


def _wake() -> None:
    from settlement import tasks  # with the first bell: most commands ring none

    tasks.ring()
