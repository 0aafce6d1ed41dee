"""Rows point the same way as imports do, which import tools cannot see: a foreign key may name its target by text."""

from __future__ import annotations

from django.apps import apps
from django.db.models import Field, Model

HEIGHT = {"casino": 0, "settlement": 1, "audit": 2, "deploy": 3}


def _keys_between_apps() -> list[tuple[type[Model], Field, type[Model]]]:
    return [
        (model, field, field.related_model)
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label in HEIGHT
        for field in model._meta.get_fields()
        if isinstance(field, Field) and field.is_relation and isinstance(field.related_model, type)
        if field.related_model._meta.app_label != model._meta.app_label
    ]


def test_there_are_keys_to_look_at() -> None:
    assert any(target._meta.app_label == "casino" for _, _, target in _keys_between_apps())


def test_no_row_points_to_a_layer_above() -> None:
    upward = [
        f"{model._meta.label}.{field.name} -> {target._meta.label}"
        for model, field, target in _keys_between_apps()
        if HEIGHT.get(target._meta.app_label, -1) > HEIGHT[model._meta.app_label]
    ]
    assert upward == []


def test_a_row_below_does_not_know_who_points_to_it() -> None:
    named = [
        f"{model._meta.label}.{field.name}"
        for model, field, target in _keys_between_apps()
        if target._meta.app_label in HEIGHT and field.remote_field and not field.remote_field.hidden
    ]
    assert named == []
