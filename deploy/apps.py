from django.apps import AppConfig


class DeployConfig(AppConfig):
    name = "deploy"
    verbose_name = "Deploy: the three layers as one service"

    def ready(self) -> None:
        from deploy import celery, checks  # noqa: F401  each registers what it holds
        from deploy.integers import refuse_what_does_not_fit
        from settlement import external_wallets, webhooks

        refuse_what_does_not_fit()

        webhooks.ring_with(_wake)
        external_wallets.ring_with(_wake_callers)


def _wake() -> None:
    from settlement import tasks  # with the first bell: most commands ring none

    tasks.ring()


def _wake_callers() -> None:
    from settlement import tasks

    tasks.ring_for_calls()
