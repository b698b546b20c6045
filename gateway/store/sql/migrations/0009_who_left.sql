-- When the last caller who was held for a request went away; 0 while none has, or one is back.
ALTER TABLE approvals ADD COLUMN left_at BIGINT NOT NULL DEFAULT 0;
