-- Who would rather have the proposed arguments; empty in rows of before: it was the no that decided.
ALTER TABLE approvals ADD COLUMN proposed_by TEXT NOT NULL DEFAULT '';
