"""Lists of many thousand cases:
the next case and a block's progress are read from the index alone."""

from __future__ import annotations

from alembic import op

revision = "v2"
down_revision = "v1"

_NAME = "assignments_by_user"


def upgrade() -> None:
    """Order a person's cases by purpose and state before block and position,
    and a project's by person."""
    op.drop_index(_NAME, "assignments")
    op.drop_index("ix_assignments_project_id", "assignments")
    op.create_index(
        "assignments_by_project", "assignments", ["project_id", "user_id", "purpose", "state"]
    )
    op.create_index(
        _NAME, "assignments", ["user_id", "purpose", "state", "block", "position", "project_id"]
    )
